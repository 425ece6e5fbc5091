#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench/scaling.sh [WORKERS [DEVICE...]]: how much faster many workers are than one, and than OpenMP
# tasks on as many threads. WORKERS is the number of cores unless given, the devices host and
# opencl:pocl. ROUNDS (5) of each are run, and medians are printed, in milliseconds a round; rounds of
# ours and of OpenMP take turns.
#
# It runs what the release preset has built, and needs no network:
#     cmake --preset release -DRDL_TESTS=AUTO && cmake --build --preset release && bench/scaling.sh
set -euo pipefail
cd "$(dirname "$0")/.."
bin=build/release/bin
workers=${1:-$(nproc)}
[ $# -le 1 ] || devices=("${@:2}")
[ $# -gt 1 ] || devices=(host opencl:pocl)
# PoCL 3 and 4 know different names for the number of their threads.
export POCL_MAX_PTHREAD_COUNT=$workers POCL_CPU_MAX_CU_COUNT=$workers OMP_NUM_THREADS=$workers
failed=0

# measure DEVICE WORKERS PEER SHAPE [--n N]: one line of JSON.
measure() {
  "$bin/raddle" bench --json - --rounds "${ROUNDS:-5}" --device "$1" --workers "$2" --peer "$3" \
    --shape "${@:4}"
}

# milliseconds LINE FIELD: the field's nanoseconds a future, for all futures of the round.
milliseconds() {
  sed -E "s/.*\"n\": ([0-9]+),.*\"$2\": ([0-9.]+).*/\1 \2/" <<<"$1" |
    awk '{ printf "%.2f", $1 * $2 / 1e6 }'
}

over() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }

# row DEVICE PEER SHAPE [--n N]
row() {
  local one many alone together theirs=- ratio=-
  if ! one=$(measure "$1" 1 none "${@:3}") || ! many=$(measure "$1" "$workers" "$2" "${@:3}"); then
    failed=1
    return
  fi
  alone=$(milliseconds "$one" ns_per_future)
  together=$(milliseconds "$many" ns_per_future)
  if [ "$2" != none ]; then
    theirs=$(milliseconds "$many" peer_ns)
    ratio=$(over "$theirs" "$together")
  fi
  printf '%-12s %-12s %10s %10s %8s  %-10s %10s %8s\n' "$3${5:+($5)}" "$1" "$alone" "$together" \
    "$(over "$alone" "$together")" "$2" "$theirs" "$ratio"
}

[ -x "$bin/raddle" ] || {
  echo "$0: there is no $bin/raddle; build the release preset first" >&2
  exit 1
}
peers=()
for peer in gcc clang; do
  [ ! -x "$bin/peer-omp-$peer" ] || peers+=("omp-$peer")
done
printf '%-12s %-12s %10s %10s %8s  %-10s %10s %8s\n' shape device "1 worker" "$workers" faster \
  peer "its $workers" "ours is"
for device in "${devices[@]}"; do
  for peer in "${peers[@]:-none}"; do
    row "$device" "$peer" fib --n 27
    row "$device" "$peer" tree
  done
done
exit "$failed"
