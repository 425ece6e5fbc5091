#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sass.sh CUBIN [FUNCTION...]: the instructions of each FUNCTION (rdl_suspend) of a compiled image, and
# of what it calls, as they stand in the disassembly; of FUNCTION+FUNCTION... those alone and their sum,
# for what one await runs through is less than all cases. Needs nvdisasm, from the PATH or a CUDA
# toolkit. With - for the CUBIN it reads a disassembly from standard input. Exit status 1: a FUNCTION is
# not there, or was put into its callers; 77: there is no nvdisasm.
set -uo pipefail
[ $# -gt 0 ] || {
  echo "usage: $0 CUBIN|- [FUNCTION...]" >&2
  exit 2
}
cubin=$1
shift
[ $# -gt 0 ] || set -- rdl_suspend

find_disassembler() {
  local path
  for path in "$(command -v nvdisasm)" "${CUDA_HOME:-/usr/local/cuda}/bin/nvdisasm" \
    /usr/local/cuda/bin/nvdisasm; do
    [ ! -x "$path" ] || {
      echo "$path"
      return
    }
  done
  echo "nvdisasm is not installed" >&2
  return 1
}

if [ "$cubin" = - ]; then
  disassemble=(cat)
else
  tool=$(find_disassembler) || exit 77
  disassemble=("$tool" -c "$cubin")
fi

# A label begins a function if it was declared as one. Its name is the last rdl_... of what the
# compiler made of it; a small letter never follows it.
"${disassemble[@]}" | awk -v wanted="$*" '
  function plain(name) {
    sub(/^.*\$_Z/, "", name)
    return match(name, /rdl_[a-z0-9_]+/) ? substr(name, RSTART, RLENGTH) : name
  }
  function visit(name, depth,   count, callee, list, i) {
    if (name in seen) return
    seen[name] = 1
    total += own[name]
    functions++
    printf "%s%-*s %6d\n", substr("                ", 1, 2 * depth), 40 - 2 * depth, name, own[name]
    count = split(calls[name], list, " ")
    for (i = 1; i <= count; i++) visit(list[i], depth + 1)
  }
  $1 == ".type" && /@function/ { sub(/,.*/, "", $2); declared[$2] = 1 }
  /^[^ \t].*:$/ {
    label = substr($0, 1, length($0) - 1)
    if (label in declared) { here = plain(label); own[here] += 0 }
  }
  /^[ \t]*\/\*[0-9a-f]+\*\// && !/[ \t]NOP/ {
    own[here]++
    if (match($0, /CALL[.A-Z]* `\([^)]*\)/)) {
      callee = substr($0, RSTART, RLENGTH)
      sub(/^[^(]*\(/, "", callee)
      sub(/\)$/, "", callee)
      callee = plain(callee)
      if (!((here, callee) in edge)) { edge[here, callee] = 1; calls[here] = calls[here] " " callee }
    }
  }
  function is_there(name) {
    if (name in own) return 1
    printf "%-40s is no function of its own here\n", name
    failed = 1
    return 0
  }
  function tell_all(name) {
    if (!is_there(name)) return
    total = functions = 0
    split("", seen)
    visit(name, 0)
    printf "%-40s %6d in %d functions\n", "all of " name, total, functions
  }
  function tell_path(path,   count, names, i, sum) {
    count = split(path, names, "[+]")
    for (i = 1; i <= count; i++)
      if (is_there(names[i])) {
        printf "%-40s %6d\n", names[i], own[names[i]]
        sum += own[names[i]]
      }
    printf "%-40s %6d\n", "together", sum
  }
  END {
    rows = split(wanted, row, " ")
    for (r = 1; r <= rows; r++)
      if (index(row[r], "+")) tell_path(row[r])
      else tell_all(row[r])
    exit failed
  }'
