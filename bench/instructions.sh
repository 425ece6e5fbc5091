#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench/instructions.sh REVISION [SHAPE...]: has the scheduler become dearer since REVISION? Counts the
# instructions a future on the host with one worker, of REVISION and of this tree. What the device
# does for fib, fan and pingpong repeats within 0.1 % on however busy a machine, where times do not.
# In indep, chain and wavefront, which the host starts one by one, it depends on who is ahead, and
# repeats within 1 to 2 %. What the library does beside it contains waiting, and is a rough figure.
#
# It needs valgrind, and a REVISION that knows `raddle bench --steady`. That is checked out and built
# in build/instructions, and stays there for the next time.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || {
  echo "usage: $0 REVISION [SHAPE...]" >&2
  exit 2
}
commit=$(git rev-parse --short "$1^{commit}")
folder=$PWD/build/instructions
shapes=("${@:2}")
[ $# -gt 1 ] || shapes=(indep chain wavefront fib fan pingpong)
# Both revisions use images of this folder, which tells them from everything else that runs.
export XDG_CACHE_HOME=$folder/cache
mkdir -p "$XDG_CACHE_HOME"

build() { # build FOLDER
  if ! { cmake -S "$1" -B "$1/build/release" -G Ninja -DCMAKE_BUILD_TYPE=Release &&
    cmake --build "$1/build/release" --target raddle_command; } >"$folder/build.log" 2>&1; then
    tail -20 "$folder/build.log" >&2
    exit 1
  fi
}

bench() { # bench FOLDER SHAPE ROUNDS
  "${prefix[@]}" "$1/build/release/bin/raddle" bench --steady --device host --workers 1 --json - \
    --shape "$2" --rounds "$3"
}

# The instructions of the device and of the library. Objects have numbers in the file, with their
# names where they come first; the line behind a call is what the callee cost, which has lines of its
# own.
sum() {
  awk -v device="$XDG_CACHE_HOME/" '
    /^c?ob=/ {
      id = $1; sub(/^c?ob=/, "", id)
      if (NF > 1) kind[id] = index($2, device) == 1 ? "device" : $2 ~ /libraddle/ ? "library" : ""
    }
    /^ob=/ { object = id }
    /^calls=/ { getline; next }
    /^[0-9+*-]/ { cost[kind[object]] += $2 }
    END { print cost["device"], cost["library"] }' "$1"
}

# A futures' instructions: four rounds less one, so that neither the start nor the first round counts.
count() { # count FOLDER SHAPE
  local rounds futures=0 counts=()
  for rounds in 1 4; do
    prefix=(valgrind --tool=callgrind "--callgrind-out-file=$folder/callgrind")
    futures=$(bench "$1" "$2" "$rounds" 2>"$folder/bench.log" | sed -E 's/.*"n": ([0-9]+),.*/\1/')
    [ -n "$futures" ] || {
      tail -5 "$folder/bench.log" >&2
      exit 1
    }
    counts+=("$(sum "$folder/callgrind")")
  done
  awk -v n="$futures" '{ d = $1 - d; l = $2 - l } END { printf "%.1f %.1f", d / n / 3, l / n / 3 }' \
    < <(printf '%s\n' "${counts[@]}")
}

[ -d "$folder/$commit" ] || git worktree add --quiet --detach "$folder/$commit" "$commit"
build "$folder/$commit"
build "$PWD"
printf '%-10s %10s %10s %7s   %10s %10s %7s\n' shape "$commit" now ratio library now ratio
for shape in "${shapes[@]}"; do
  prefix=()
  bench "$folder/$commit" "$shape" 1 >/dev/null # compiles what is not in the cache yet
  bench "$PWD" "$shape" 1 >/dev/null
  before=$(count "$folder/$commit" "$shape")
  now=$(count "$PWD" "$shape")
  awk -v shape="$shape" '{ d[NR] = $1; l[NR] = $2 } END {
    printf "%-10s %10s %10s %7.3f   %10s %10s %7.3f\n", shape, d[1], d[2], d[2] / d[1], l[1], l[2],
           l[2] / l[1] }' < <(printf '%s\n' "$before" "$now")
done
