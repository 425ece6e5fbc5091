#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# installed_test.sh CMAKE BUILD WORK BINDIR DATADIR DOCDIR HELPER: installs a built tree below WORK,
# and runs what lies there from another folder. The folders of the installed tree, and the program in
# which OpenCL drivers compile, are relative to its prefix; HELPER is empty without that backend.
set -eu
unset DESTDIR RADDLE_BUILD_HELPER
work=$3
prefix=$work/prefix
rm -rf "$work"
mkdir -p "$work/elsewhere"
"$1" --install "$2" --prefix "$prefix" >"$work/install.log"
cd "$work/elsewhere"

fail() {
  echo "$*"
  exit 1
}

for file in README.md CHANGELOG.md LICENSE docs/tasks.md docs/programs.md; do
  [ -s "$prefix/$6/$file" ] || fail "$file is not installed"
done

# Every link of a document leads to a file beside it.
find "$prefix/$6" -name '*.md' >"$work/documents"
links=0
while read -r document; do
  grep -o ']([^)#]*' "$document" | cut -c 3- | grep -v '^$\|://' >"$work/links" || continue
  while read -r link; do
    links=$((links + 1))
    [ -s "$(dirname "$document")/$link" ] || fail "$document has a link to $link, which is not there"
  done <"$work/links"
done <"$work/documents"
[ "$links" -ge 8 ] || fail "the documents have $links links: fewer than there should be"
for file in man/man1/raddle.1 bash-completion/completions/raddle; do
  [ -s "$prefix/$5/$file" ] || fail "$file is not installed"
done
"$prefix/$4/raddle" devices | grep -q '^host ' || fail "the installed raddle does not list the host"

bin=$prefix/$4
tasks=$prefix/$5/raddle/conformance

# ends CODE TEXT: runs a case from the installed fut.task.c, which ends with CODE and says TEXT.
ends() {
  code=0
  "$bin/raddle-conformance" --device host --filter FUT-1.once >"$work/log" 2>&1 || code=$?
  grep -q "$2" "$work/log" && [ "$code" = "$1" ] && return 0
  cat "$work/log"
  fail "wanted exit code $1 and '$2', and the code is $code"
}

# What is changed in the installed files is seen, so they are the ones that are used.
ends 0 '^passed FUT-1.once'
cp "$tasks/fut.task.c" "$work/fut.task.c"
echo 'spoiled by the test;' >>"$tasks/fut.task.c"
ends 1 RDL_COMPILE
cp "$work/fut.task.c" "$tasks/fut.task.c"
echo 'FUT-1.once | unsupported | by the test' >>"$tasks/expectations/host.txt"
ends 77 'by the test'

# OpenCL drivers compile in the helper that lies where the library does, after a move, too. Both caches
# are empty, so that it is needed.
[ -n "$7" ] || exit 0
mv "$prefix" "$work/moved"
bin=$work/moved/$4
helper=$work/moved/$7
export XDG_CACHE_HOME="$work/cache" POCL_CACHE_DIR="$work/pocl"
mkdir -p "$POCL_CACHE_DIR"
"$bin/raddle" devices | grep -q '^opencl:pocl' || {
  [ -x "$helper" ] || fail "the helper is not installed"
  echo "No device of PoCL is here: the helper is installed, and has not been run."
  exit 0
}

# builds CODE TEXT: the same case on PoCL.
builds() {
  code=0
  "$bin/raddle-conformance" --device opencl:pocl --filter FUT-1.once >"$work/log" 2>&1 || code=$?
  grep -q "$2" "$work/log" && [ "$code" = "$1" ] && return 0
  cat "$work/log"
  fail "on PoCL, wanted exit code $1 and '$2', and the code is $code"
}
mv "$helper" "$work/helper"
builds 2 "$(dirname "$helper")\$"
mv "$work/helper" "$helper"
builds 0 '^passed FUT-1.once'
