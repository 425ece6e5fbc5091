#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench/gpu.sh PART...: builds and proves Raddle on a machine with a GPU, which needs no network.
#
#   build      configure and build the release preset, without what is not installed
#   devices    what the machine has, and what probes find
#   prime      compile the images of the suite for cuda:0 into the cache, many at a time
#   cuda       conformance on cuda:0; more arguments of raddle-conformance in CONFORMANCE
#   epoch      the same in epoch mode
#   nvidia     conformance on opencl:nvidia
#   pocl       conformance on opencl:pocl
#   host       conformance on the host
#   both       some cases on cuda:0 and on opencl:nvidia, in two processes at once
#   rounds     a hundred contexts after each other; a start right after kill -9 in mid-run
#   sanitizer  compute-sanitizer: memcheck and synccheck over some cases, racecheck over fewer, with
#              the arguments in SANITIZED in place of --workers 64 --scale 10; what racecheck finds is
#              held against bench/racecheck.txt
#   fib        fib(25) a thousand times on opencl:nvidia, every result and every count checked
#   bench      the shapes of `raddle bench` on cuda:0 beside CUDA graphs, and on opencl:nvidia
#   limits     what the device allows (bench/peers/README.md)
#   beside     what calls of CUDA take without and beside a busy context, and PyTorch beside Raddle
#   examples   each example on cuda:0, and whether its answer is that of the host
#   yields     cycles from one task to the next, and the instructions of what suspends one
#   scaling    one worker against all, beside OpenMP, on the CPU
#
# Every command has a time limit, so a kernel that runs away costs one part. With RESULTS=FOLDER the
# logs stay there. LIMIT is the seconds of a long command, of `limits`, of `bench` on one device, and of
# one tool of `sanitizer`.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
bin=build/release/bin
limit=${LIMIT:-420}
results=${RESULTS:-build}
mkdir -p "$results"

say() { printf '\n== %s\n' "$*"; }

# bounded SECONDS COMMAND...: not even what ignores a polite end lasts longer.
bounded() { timeout -k 5 "$@"; }

# The seconds that are left of a part that began at second $1, and at most $2; fails when none are.
left_of() {
  local left=$(($1 + limit - SECONDS))
  [ "$left" -le "$2" ] || left=$2
  echo "$left"
  [ "$left" -gt 0 ]
}

# NVIDIA's driver brings its OpenCL and not always the file that names it.
name_nvidia() {
  [ -e /etc/OpenCL/vendors/nvidia.icd ] || [ "$(id -u)" != 0 ] ||
    ! ldconfig -p | grep -q libnvidia-opencl.so.1 || {
    mkdir -p /etc/OpenCL/vendors
    echo libnvidia-opencl.so.1 >/etc/OpenCL/vendors/nvidia.icd
  }
}

build() {
  if ! { cmake --preset release -DRDL_TESTS=AUTO &&
    cmake --build --preset release -j"$(nproc)"; } >build.log 2>&1; then
    tail -20 build.log
  fi
  rm -f build.log
}

# conformance NAME SELECTOR [ARGUMENT...]: closing lines, and what failed, in a few lines each. A run
# that was cut short has no closing line, so what passed is counted.
conformance() {
  local log=$results/conformance-$1.log
  # shellcheck disable=SC2086
  bounded "$limit" "$bin/raddle-conformance" --device "$2" "${@:3}" ${CONFORMANCE:-} >"$log" 2>&1
  echo "$1: exit status $?; $(grep -c '^passed' "$log") passed, $(grep -c '^failed' "$log") failed"
  grep -A4 '^failed' "$log" | cut -c1-300 | head -"${LINES_MOST:-120}"
  tail -1 "$log" | cut -c1-300
}

# ---- images ----

# Each task file in both modes, and the cases that make files of their own, each of them in a process.
prime_jobs() {
  local file
  for file in conformance/*.task.c; do
    echo "--compile --filter ${file##*/}"
    echo "--compile --epoch --filter ${file##*/}"
  done
  "$bin/raddle-conformance" --list | awk '$1 ~ /^POR-1/ && $3 == "slow" { print "--filter " $1 }'
}

prime() {
  local start=$SECONDS
  prime_jobs | bounded "$limit" xargs -P "$(nproc)" -I{} sh -c \
    "timeout --foreground $limit $bin/raddle-conformance --device cuda:0 --timeout $limit {} \
       >/dev/null 2>&1 || echo 'failed: {}'"
  echo "exit status $?, $((SECONDS - start)) s"
}

# ---- contexts beside and after each other ----

both() {
  local filters=(--filter 'FUT-10.*' --filter 'EVT-6.*' --filter 'SCH-7.*')
  conformance both-cuda cuda:0 "${filters[@]}" >"$results/both-cuda.txt" &
  local other=$!
  conformance both-nvidia opencl:nvidia "${filters[@]}"
  wait "$other"
  cat "$results/both-cuda.txt"
}

# Ends a run that has work for minutes, and starts the next at once.
kill_and_start() {
  "$bin/raddle" bench --device cuda:0 --shape fib --n 30 --slots 1000000 --rounds 1000 \
    >/dev/null 2>&1 &
  local runner=$!
  disown "$runner" # so that the shell does not speak of its end
  sleep "$1"
  kill -9 "$runner" 2>/dev/null || echo "the run ended by itself, too early"
  local begin
  begin=$(date +%s%N)
  bounded 60 "$bin/raddle" bench --device cuda:0 --shape fib --rounds 1 >"$results/rounds.log" 2>&1
  echo "exit status $?, $((($(date +%s%N) - begin) / 1000000)) ms from kill -9, after $1 s, to the end"
}

rounds() {
  conformance rounds cuda:0 --filter HST-1.reopen --filter HST-1.open_close --timeout "$limit"
  for pause in 3 3 1 0.5 0.2; do kill_and_start "$pause"; done
}

# ---- compute-sanitizer ----

find_sanitizer() {
  local path
  for path in "$(command -v compute-sanitizer)" /usr/local/cuda/bin/compute-sanitizer \
    /usr/local/cuda/compute-sanitizer/compute-sanitizer; do
    [ ! -x "$path" ] || {
      echo "$path"
      return
    }
  done
  return 1
}

# count_findings TOOL LOG STATUS: of racecheck, without those that bench/racecheck.txt lists; a log that
# was not understood counts as one, unless the run was cut short.
count_findings() {
  local log=$2 counts
  if [ "$1" != racecheck ]; then
    sed -nE 's/^=+ ERROR SUMMARY: ([0-9]+) .*/\1/p' "$log" | tail -1
    return
  fi
  if bench/racecheck.sh bench/racecheck.txt "$log" >"$log.unlisted" 2>&1; then
    echo 0
    return
  fi
  counts=$(sed -nE '1s/^[0-9]+ listed, ([0-9]+) not$/\1/p' "$log.unlisted")
  case $3 in
    124 | 137) ;;
    *) [ "${counts:-0}" != 0 ] || counts=1 ;;
  esac
  echo "${counts:-0}"
}

count_listed() {
  local counts
  counts=$(sed -nE '1s/^([0-9]+) listed, .*/\1/p' "$1.unlisted")
  echo "${counts:-0}"
}

tell_findings() {
  if [ "$1" = racecheck ]; then
    cut -c1-200 "$2.unlisted" | head -12
  else
    grep '^=========' "$2" | grep -v 'COMPUTE-SANITIZER\|SUMMARY' | cut -c1-200 | head -12
  fi
}

# sanitize TOOL CASE...: each case in a process of its own, without the one that watches over it.
# With fewer workers a checked launch ends within its time; `--lanes 32` looks at a whole warp.
sanitize() {
  local tool=$1 start=$SECONDS findings=0 failed=0 cut=0 ran=0 listed=0 most=20
  local name log seconds status found
  [ "$tool" != racecheck ] || most=1000 # what is not printed could not be compared
  for name in "${@:2}"; do
    seconds=$(left_of "$start" 120) || break
    log=$results/$tool-$name.log
    # shellcheck disable=SC2086
    bounded "$seconds" "$sanitizer" --tool "$tool" --print-limit "$most" "$bin/raddle-conformance" \
      --device cuda:0 --patience 600 ${SANITIZED:---workers 64 --scale 10} --child "$name" >"$log" 2>&1
    status=$?
    ran=$((ran + 1))
    found=$(count_findings "$tool" "$log" "$status")
    findings=$((findings + ${found:-0}))
    case $status in 124 | 137) cut=$((cut + 1)) ;; esac
    [ "$status" = 0 ] || [ "$status" = 77 ] || {
      failed=$((failed + 1))
      echo "$tool $name: exit status $status"
      grep -v 'COMPUTE-SANITIZER\|SUMMARY' "$log" | cut -c1-200 | head -8
    }
    [ "${found:-0}" = 0 ] || {
      echo "$tool $name: $found findings"
      tell_findings "$tool" "$log"
    }
    [ "$tool" != racecheck ] || listed=$((listed + $(count_listed "$log")))
  done
  echo "$tool: $ran of $(($# - 1)) cases, $findings findings, $failed ended badly, $cut of them cut short"
  [ "$listed" = 0 ] || echo "$tool: $listed more that bench/racecheck.txt lists, each with its ordering"
}

run_sanitizer() {
  sanitizer=$(find_sanitizer) || {
    echo "compute-sanitizer is not installed"
    return
  }
  local some=(FUT-3.child FUT-10.fib EVT-6.ping_pong POR-1.barrier POR-1.lane_words)
  local more=("${some[@]}" FUT-1.tree FUT-3.large FUT-4.any FUT-4.deadline FUT-7.children FUT-8.reuse
    FUT-9.members_diamond FUT-10.queens FUT-11.fib EVT-2.many_signals SCH-7.graph POR-1.types
    POR-1.lane_spawns MEM-6.kinds)
  sanitize memcheck "${more[@]}"
  sanitize synccheck "${more[@]}"
  sanitize racecheck "${some[@]}"
}

# ---- times ----

# The shapes, each with what it is run with. Trees are deep on each of thousands of workers.
bench_rows=(
  'indep' 'indep --n 10000000' 'fib' 'fib --n 32 --slots 1000000' 'chain' 'wavefront' 'fan' 'pingpong'
  'yield --n 1' 'yield --n 10000' 'fma' 'roundtrip'
)

# bench DEVICE PEER: one table.
bench() {
  local start=$SECONDS row seconds head=1 log=$results/bench.log
  for row in "${bench_rows[@]}"; do
    seconds=$(left_of "$start" 90) || {
      echo "no time for $row and what follows"
      break
    }
    # shellcheck disable=SC2086
    if bounded "$seconds" "$bin/raddle" bench --device "$1" --peer "$2" --rounds 5 --shape $row \
      >"$log" 2>"$log.errors"; then
      tail -n "+$head" "$log"
      head=2
    else
      echo "$row: exit status $?; $(tail -1 "$log.errors" | cut -c1-300)"
    fi
  done
}

# A peer that was not built is no reason to measure nothing.
bench_all() {
  local peer=none
  [ ! -x "$bin/peer-cuda-graph" ] || peer=cuda-graph
  bench cuda:0 "$peer"
  bench opencl:nvidia none
}

limits() {
  local start=$SECONDS figure seconds status
  for figure in $("$bin/peer-cuda-limits" --list); do
    seconds=$(left_of "$start" 60) || break
    bounded "$seconds" "$bin/peer-cuda-limits" "$figure"
    status=$?
    [ "$status" = 0 ] || echo "$figure: exit status $status"
    [ "$status" != 77 ] || break # there is no device
  done
}

# ---- examples ----

# Each with what it is given. IN is a folder for what it writes on a device, HOST that of the host.
example_rows=(
  'hello' 'fib --n 25' 'wavefront --size 2000 --tile 50'
  'pathtracer --size 96 --spp 16 --out IN/picture.png --compare HOST/picture.png'
  'flights --tsv IN/tables'
)

# run_example ROW DEVICE FOLDER HOST: all that it says and writes is in the folder then, without times.
run_example() {
  local row=$1 name=${1%% *}
  mkdir -p "$3/tables"
  row=${row//IN/$3}
  row=${row//HOST/$4}
  [ "$3" != "$4" ] || row=${row%--compare *}
  # shellcheck disable=SC2086
  bounded 240 "$bin/"$row --device "$2" >"$3/said" 2>"$3/errors"
  echo $? >"$3/status"
  grep '^compared' "$3/said" >"$3/compared"
  case $name in
    pathtracer | flights) : >"$3/said" ;; # what they say is about time
    *) sed -i -E '/ in [0-9.]+ ms/s/ in .*//' "$3/said" ;;
  esac
}

# compare_example NAME FOLDER HOST
compare_example() {
  local status where
  for where in "$3" "$2"; do
    status=$(cat "$where/status")
    [ "$status" = 0 ] || {
      echo "$1: failed in ${where##*/}: exit status $status; $(tail -qn 1 "$where/errors" "$where/compared" | cut -c1-300)"
      return
    }
  done
  if diff -r --exclude=errors --exclude=compared "$3" "$2" >"$2.differs"; then
    echo "$1: same"
  else
    echo "$1: differs; $(cat "$2/compared")"
    head -6 "$2.differs" | cut -c1-200
  fi
}

# One after the other on the host, for its picture is compared with, and all at once on the device, for
# most of their time goes into compiling.
examples() {
  local row name folder=$results/examples device=${EXAMPLES_ON:-cuda:0}
  rm -rf "$folder"
  for row in "${example_rows[@]}"; do
    name=${row%% *}
    [ ! -x "$bin/$name" ] || run_example "$row" host "$folder/$name/host" "$folder/$name/host"
  done
  for row in "${example_rows[@]}"; do
    name=${row%% *}
    [ ! -x "$bin/$name" ] ||
      run_example "$row" "$device" "$folder/$name/device" "$folder/$name/host" &
  done
  wait
  for row in "${example_rows[@]}"; do
    name=${row%% *}
    if [ -x "$bin/$name" ]; then
      compare_example "$name" "$folder/$name/device" "$folder/$name/host"
    else
      echo "$name: was not built"
    fi
  done
}

# ---- others on the same device ----

# Each call in a process of its own, for one that waits for ever must cost only itself. With
# arguments in BESIDE, such as --quantum 8 or --workers 2112.
beside() {
  local start=$SECONDS call seconds status
  [ -x "$bin/beside-cuda" ] || {
    echo "beside-cuda was not built: nvcc was not found"
    return
  }
  # Compiling takes longer than a call may.
  bounded 240 "$bin/beside-cuda" kernel --rounds 1 >/dev/null 2>&1 &
  bounded 240 "$bin/raddle" bench --device cuda:0 --shape fib --rounds 1 >/dev/null 2>&1
  wait $!
  start=$SECONDS
  "$bin/beside-cuda" --head
  for call in $("$bin/beside-cuda" --list); do
    seconds=$(left_of "$start" 40) || break
    # shellcheck disable=SC2086
    bounded "$seconds" "$bin/beside-cuda" "$call" ${BESIDE:-}
    status=$?
    [ "$status" = 0 ] || echo "$call: exit status $status"
  done
  seconds=$(left_of "$start" 90) || return
  bounded "$seconds" python3 bench/beside/torch_beside.py "$bin/raddle"
  status=$?
  [ "$status" = 0 ] || echo "torch_beside.py: exit status $status"
}

# The functions that an await of one future which has not ended runs through, and those before and
# behind them.
await_path=rdl_suspend+rdl_begin_wait+rdl_wait_nodes+rdl_commit_futures+rdl_join_future+rdl_join
await_more=rdl_keep_await+rdl_take_up+rdl_recall_await+rdl_settled+rdl_settle_future+rdl_stage_frame

# In a cache of its own, whose one image for a GPU is the one to look at.
yields() {
  local cache file
  cache=$(cd "$results" && pwd)/yields-cache
  mkdir -p "$cache"
  XDG_CACHE_HOME=$cache bounded "$limit" "$bin/yields" --device cuda:0 || {
    echo "yields: exit status $?"
    return
  }
  for file in "$cache"/raddle/*.bin; do
    [ "$(head -c 4 "$file" | tail -c 3)" = ELF ] || continue
    bounded 60 bench/yields/sass.sh "$file" "$await_path" "$await_more" rdl_suspend
  done
}

part() {
  say "$1"
  case "$1" in
    build) build ;;
    devices)
      nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm --format=csv,noheader
      date -u '+%F %H:%M'
      bounded "$limit" "$bin/raddle" devices -v
      ;;
    prime) prime ;;
    cuda) conformance cuda cuda:0 ;;
    epoch) conformance epoch cuda:0 --epoch ;;
    nvidia) conformance nvidia opencl:nvidia ;;
    pocl) conformance pocl opencl:pocl ;;
    host) conformance host host ;;
    both) both ;;
    rounds) rounds ;;
    sanitizer) run_sanitizer ;;
    fib)
      for workers in 132 264 528 1024; do
        bounded 60 "$bin/fib" --device opencl:nvidia --n 25 --workers "$workers"
      done
      conformance fib opencl:nvidia --filter FUT-1.often --timeout "$limit"
      ;;
    bench) bench_all ;;
    limits) limits ;;
    examples) examples ;;
    beside) beside ;;
    yields) yields ;;
    scaling) bounded "$limit" bench/scaling.sh ;;
    *)
      echo "unknown part $1; see the head of $0" >&2
      exit 2
      ;;
  esac
}

[ $# -gt 0 ] || set -- build devices prime cuda epoch nvidia both rounds sanitizer bench limits beside yields \
  examples pocl host fib scaling
name_nvidia
for p in "$@"; do part "$p"; done
