#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# racecheck.sh LISTED LOG...: what racecheck found, without what LISTED has (racecheck.txt has its format).
#
# The first line is "N listed, M not". Each pair that is not listed follows, once, with the number of
# times it was reported and of hazards. Exit status 0: all is listed; 1: not, or a log is not whole, or
# was not understood; 2: LISTED is wrong. A log is whole if it has a summary that counts as many reports as
# stand in it.
set -uo pipefail
[ $# -gt 1 ] || {
  echo "usage: $0 LISTED LOG..." >&2
  exit 2
}

# An access becomes KIND FUNCTION [FILE:LINE]. It is told as
#   Write access at void name<...>(arguments)+0xOFFSET in /a/path/file:LINE
# or without the file, and by older versions as
#   Write access at 0xOFFSET in /a/path/file:LINE:void name<...>(arguments)
awk '
  function wrong(text) { problems = problems text "\n"; failed = failed ? failed : 1 }
  # Of a name as the compiler makes it, such as _ZN...11rdl_publishEP6rdl_cx, only ours is found.
  function plain(name) {
    if (name ~ /^_Z/)
      return match(name, /rdl_[a-z0-9_]+E/) ? substr(name, RSTART, RLENGTH - 1) : name
    while (gsub(/<[^<>]*>/, "", name)) continue
    sub(/\(.*/, "", name)
    sub(/^.*[ :]/, "", name)
    return name
  }
  function place(path) {
    sub(/^.*\//, "", path)
    return path
  }
  function access(text,   kind, where, file) {
    kind = text
    sub(/ access at .*/, "", kind)
    where = text
    sub(/^[A-Za-z]+ access at /, "", where)
    if (where ~ /^0x[0-9a-f]+ in [^ ]+:[0-9]+:/) {
      sub(/^0x[0-9a-f]+ in /, "", where)
      match(where, /:[0-9]+:/)
      file = place(substr(where, 1, RSTART + RLENGTH - 2))
      where = substr(where, RSTART + RLENGTH)
    } else {
      sub(/^0x[0-9a-f]+ in /, "", where)
      if (match(where, / in .*:[0-9]+$/)) {
        file = place(substr(where, RSTART + 4))
        where = substr(where, 1, RSTART - 1)
      }
      sub(/\+0x[0-9a-f]+$/, "", where)
    }
    return kind " " plain(where) (file ? " " file : "")
  }
  # Whether what is listed is the access: the place only if one is listed.
  function is(entry, found) { return found == entry || index(found, entry " ") == 1 }
  function is_listed(first, second,   k) {
    for (k = 1; k <= entries; k++) {
      if (is(one[k], first) && is(other[k], second)) return 1
      if (is(one[k], second) && is(other[k], first)) return 1
    }
    return 0
  }
  function take(second, hazards,   pair) {
    found++
    if (is_listed(first, second)) { listed++; return }
    pair = first " and " second
    if (!(pair in times)) order[++pairs] = pair
    times[pair]++
    sum[pair] += hazards
  }
  function end_log() {
    if (!log_name) return
    if (summary == "") wrong(log_name ": no summary, so it was cut short")
    else if (summary + 0 != reports) wrong(log_name ": " summary " reports are counted, " reports " were read")
  }

  FILENAME == ARGV[1] {
    if (/^#/) { reason = !/SPDX/ && $0 != "#"; next }
    if (/^[ \t]*$/) { reason = 0; next }
    if (!match($0, / and /) || $0 !~ /^[A-Z][a-z]+ [^ ]+( [^ ]+:[0-9]+)? and [A-Z][a-z]+ [^ ]+( [^ ]+:[0-9]+)?$/) {
      print FILENAME ":" FNR ": no pair of accesses: " $0; failed = 2; exit
    }
    if (!reason) { print FILENAME ":" FNR ": no ordering stands above " $0; failed = 2; exit }
    one[++entries] = substr($0, 1, RSTART - 1)
    other[entries] = substr($0, RSTART + RLENGTH)
    next
  }
  FNR == 1 { end_log(); log_name = FILENAME; summary = ""; reports = 0 }
  /^=+ .*Race reported between / {
    reports++
    sub(/^.*Race reported between /, "")
    second = ""
    if (match($0, / and [A-Z][a-z]+ access at /)) { second = substr($0, RSTART + 5); $0 = substr($0, 1, RSTART - 1) }
    first = access($0)
    if (second) take(access(second), 1)
    next
  }
  /^=+ +and [A-Z][a-z]+ access at / {
    hazards = 1
    if (match($0, / \[[0-9]+ hazards?\]/)) {
      hazards = substr($0, RSTART + 2) + 0
      $0 = substr($0, 1, RSTART - 1)
    }
    sub(/^=+ +and /, "")
    take(access($0), hazards)
    next
  }
  /^=+ .*(FATAL|[Mm]aximum number of hazards|[Ii]nternal [Ee]rror)/ { wrong(log_name ": " $0); next }
  /^=+ RACECHECK SUMMARY: / { summary = $4 }
  END {
    if (failed == 2) exit 2
    end_log()
    printf "%d listed, %d not\n", listed, found - listed
    for (k = 1; k <= pairs; k++) printf "%s (%d times, %d hazards)\n", order[k], times[order[k]], sum[order[k]]
    printf "%s", problems
    exit failed || found > listed
  }' "$@"
