#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sass_test.sh: sass.sh counts what it is meant to, in a disassembly that was written by hand.
set -uo pipefail
cd "$(dirname "$0")" || exit
# shellcheck disable=SC2016 # nothing expands in it
text='
        .type           rdl_launch,@function
rdl_launch:
.text.rdl_launch:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   CALL.REL.NOINC `($rdl_launch$_ZN3_INTERNAL_0_6_raddle_ab0411rdl_suspendEP6rdl_cx) ;
        .type           $rdl_launch$_ZN3_INTERNAL_0_6_raddle_ab0411rdl_suspendEP6rdl_cx,@function
$rdl_launch$_ZN3_INTERNAL_0_6_raddle_ab0411rdl_suspendEP6rdl_cx:
        /*0020*/                   YIELD ;
.L_x_1:
        /*0030*/               @P0 CALL.REL.NOINC `($rdl_launch$_ZN3_INTERNAL_0_6_raddle_ab048rdl_joinEP6rdl_cxPjj) ;
        /*0040*/                   CALL.REL.NOINC `($rdl_launch$_ZN3_INTERNAL_0_6_raddle_ab048rdl_joinEP6rdl_cxPjj) ;
        /*0050*/                   NOP ;
        .type           $rdl_launch$_ZN3_INTERNAL_0_6_raddle_ab048rdl_joinEP6rdl_cxPjj,@function
$rdl_launch$_ZN3_INTERNAL_0_6_raddle_ab048rdl_joinEP6rdl_cxPjj:
        /*0060*/                   LD.E R2, desc[UR8][R66.64+0x90] ;
        /*0070*/                   CALL.REL.NOINC `($rdl_launch$_ZN3_INTERNAL_0_6_raddle_ab0411rdl_suspendEP6rdl_cx) ;
'
failed=0

# expect STATUS LINES FUNCTION...: the lines without what stands between words.
expect() {
  local said status
  said=$(printf '%s' "$text" | ./sass.sh - "${@:3}")
  status=$?
  said=$(printf '%s' "$said" | tr -s ' ' | tr '\n' '|')
  [ "$status:$said" = "$1:$2" ] || {
    echo "exit status and text $status:$said, not $1:$2"
    failed=1
  }
}

expect 0 'rdl_suspend 3| rdl_join 2|all of rdl_suspend 5 in 2 functions' rdl_suspend
expect 0 'rdl_launch 2|rdl_join 2|together 4' rdl_launch+rdl_join
expect 1 'rdl_gone is no function of its own here' rdl_gone
text=''
expect 1 'rdl_suspend is no function of its own here'
exit "$failed"
