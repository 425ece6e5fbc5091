#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# headers_cxx_test.sh COMPILER INCLUDE FILE: the public headers give no warning in C++11, 17 and 20, and
# what they initialise is right there. Every header is compiled alone, too.
set -eu
command -v "$1" >/dev/null || {
  echo "$1 is not installed"
  exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
headers=0
for standard in c++11 c++17 c++20; do
  flags="-std=$standard -Wall -Wextra -pedantic -Wold-style-cast -Werror"
  # shellcheck disable=SC2086 # several words
  "$1" $flags "-I$2" "$3" -o "$work/headers"
  "$work/headers"
  for header in "$2"/raddle/*.h; do
    echo "#include <raddle/${header##*/}>" >"$work/alone.cc"
    # shellcheck disable=SC2086
    "$1" $flags "-I$2" -fsyntax-only "$work/alone.cc"
    headers=$((headers + 1))
  done
done
[ "$headers" -ge 40 ] || {
  echo "$headers headers: fewer than there should be"
  exit 1
}
