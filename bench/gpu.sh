#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench/gpu.sh PART...: builds and proves Raddle on a machine with a GPU, which needs no network.
#
#   build      configure and build the release preset, without what is not installed
#   devices    what the machine has, and what probes find
#   nvidia     conformance on opencl:nvidia; more arguments of raddle-conformance in CONFORMANCE
#   pocl       conformance on opencl:pocl
#   host       conformance on the host
#   fib        fib(25) a thousand times on opencl:nvidia, every result and every count checked
#   bench      the shapes of `raddle bench` on opencl:nvidia
#   scaling    one worker against all, beside OpenMP, on the CPU
#
# Every command has a time limit, so a kernel that runs away costs one part. With RESULTS=FOLDER the
# logs of the suite stay there, one for each device.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
bin=build/release/bin
limit=${LIMIT:-420}

say() { printf '\n== %s\n' "$*"; }

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

# Closing lines, and what failed, in a few lines each.
conformance() {
  log=${RESULTS:-build}/conformance-${1//:/-}.log
  # shellcheck disable=SC2086
  timeout "$limit" "$bin/raddle-conformance" --device "$1" ${CONFORMANCE:-} >"$log" 2>&1
  echo "exit status $?"
  grep -A4 '^failed' "$log" | cut -c1-300 | head -"${LINES_MOST:-120}"
  tail -1 "$log"
}

part() {
  say "$1"
  case "$1" in
    build) build ;;
    devices)
      nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
      date -u '+%F %H:%M'
      timeout "$limit" "$bin/raddle" devices -v
      ;;
    nvidia) conformance opencl:nvidia ;;
    pocl) conformance opencl:pocl ;;
    host) conformance host ;;
    fib)
      for workers in 132 264 528 1024; do
        timeout 60 "$bin/fib" --device opencl:nvidia --n 25 --workers "$workers"
      done
      CONFORMANCE="--filter FUT-1.often --timeout $limit" conformance opencl:nvidia
      ;;
    bench)
      for shape in indep fib chain fan roundtrip; do
        timeout "$limit" "$bin/raddle" bench --device opencl:nvidia --shape "$shape" --rounds 5
      done
      ;;
    scaling) timeout "$limit" bench/scaling.sh ;;
    *)
      echo "unknown part $1; see the head of $0" >&2
      exit 2
      ;;
  esac
}

[ $# -gt 0 ] || set -- build devices nvidia pocl host fib bench scaling
name_nvidia
for p in "$@"; do part "$p"; done
