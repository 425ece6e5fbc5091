#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh PATTERN PROGRAM [argument ...]: runs an example and wants exit code 0 and an answer that the
# extended regular expression matches. Exit code 3 of the program, "no such device", is a skip.
pattern=$1
shift
answer=$("$@" 2>&1)
code=$?
printf '%s\n' "$answer"
[ "$code" != 3 ] || exit 77
if [ "$code" != 0 ]; then
  echo "check: exit code $code"
  exit 1
fi
printf '%s\n' "$answer" | grep -Eq -- "$pattern" && exit 0
echo "check: the answer does not match $pattern"
exit 1
