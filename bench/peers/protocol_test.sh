#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# protocol_test.sh PROGRAM...: each program keeps to the command line that README.md describes.
set -uo pipefail
failed=0

# expect STATUS STREAM COMMAND...: it ends with STATUS, and says something on STREAM alone.
expect() {
  local out err status
  err=$(mktemp)
  out=$("${@:3}" 2>"$err")
  status=$?
  [ "$status" = "$1" ] || complain "exit status $status, not $1: ${*:3}"
  [ "$2" = out ] || [ -z "$out" ] || complain "standard output has '$out': ${*:3}"
  [ "$2" = err ] || [ ! -s "$err" ] || complain "standard error has '$(cat "$err")': ${*:3}"
  [ "$2" = out ] || [ -s "$err" ] || complain "no reason: ${*:3}"
  [ "$2" = err ] || [ -n "$out" ] || complain "no output: ${*:3}"
  rm -f "$err"
}

complain() {
  echo "$1"
  failed=1
}

for program in "$@"; do
  expect 0 out "$program" --list
  expect 2 err "$program" spiral
  if [ "${program##*/}" = peer-cuda-limits ]; then
    expect 2 err "$program" fma --repeat 0
    expect 2 err "$program" fma --repeat 1001
    expect 2 err "$program" fma --fma
    expect 2 err "$program" --fast 1
    expect 77 err "$program" fma --workers 1 --rounds 1 --n 64
  else
    expect 2 err "$program"
    expect 2 err "$program" indep --workers 0
    expect 2 err "$program" indep --rounds
    expect 2 err "$program" indep --fast
    "$program" --list | grep -qx fma || expect 77 err "$program" fma
  fi
done
exit "$failed"
