#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# arguments_test.sh PROGRAM: beside-cuda lists its calls and refuses what it does not know, with or
# without a GPU.
set -uo pipefail
failed=0

# expect STATUS ARGUMENT...
expect() {
  "$program" "${@:2}" >/dev/null 2>&1
  local status=$?
  [ "$status" = "$1" ] || {
    echo "exit status $status, not $1: ${*:2}"
    failed=1
  }
}

program=$1
expect 0 --list
expect 0 --head
expect 2
expect 2 nonsense
expect 2 malloc --rounds
expect 2 malloc --rounds 0
expect 2 malloc --rounds 32
expect 2 malloc --quantum 1ms
expect 2 malloc --quantum 251
expect 2 malloc --fast 1
[ "$("$program" --list | sort | uniq | wc -l)" -gt 10 ] || {
  echo "few calls are measured"
  failed=1
}
exit "$failed"
