#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# racecheck_test.sh: racecheck.sh reads what racecheck prints, here written by hand in its formats.
set -uo pipefail
cd "$(dirname "$0")" || exit
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# log NAME < what racecheck says
log() { cat >"$folder/$1"; }

# expect STATUS TEXT LOG...: with the pairs in $folder/pairs, the lines of the answer joined by |.
expect() {
  local said status logs=()
  for name in "${@:3}"; do logs+=("$folder/$name"); done
  said=$(./racecheck.sh "$folder/pairs" "${logs[@]}")
  status=$?
  said=$(printf '%s\n' "$said" | sed "s#$folder/##" | tr '\n' '|')
  [ "$status:$said" = "$1:$2" ] || {
    echo "$3: exit status and text"
    echo "  $status:$said, not"
    echo "  $1:$2"
    failed=1
  }
}

log clean <<'END'
========= COMPUTE-SANITIZER
passed  POR-1.barrier
========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)
END
log places <<'END'
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at rdl_publish(rdl_cx *)+0x1d0 in /tmp/a folder/lead.cl:52
=========     and Read access at rdl_launch+0x2040 in lead.cl:244 [62 hazards]
=========     and Write access at rdl_launch+0x2050 in lead.cl:246 [1 hazard]
=========
========= Warning: Race reported between Read access at void wide_run<(int)3>(rdl_cx *)+0x10
=========     and Write access at void wide_run<(int)3>(rdl_cx *)+0x40 [31 hazards]
=========
========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)
END
log older <<'END'
========= COMPUTE-SANITIZER
========= Error: Race reported between Read access at 0x2040 in /tmp/lead.cl:244:rdl_launch
=========     and Write access at 0x1d0 in /tmp/lead.cl:52:rdl_publish(rdl_cx *) [62 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
END
log mangled <<'END'
========= Error: Race reported between Write access at _ZN36_INTERNAL_00000000_6_raddle_c502fc0411rdl_publishEP6rdl_cx+0x1d0
=========     and Read access at rdl_launch+0x2040 [62 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
END
log one_line <<'END'
========= Error: Race reported between Write access at 0x50 in rdl_publish(rdl_cx *) and Read access at 0x90 in rdl_launch
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
END
log cut <<'END'
========= COMPUTE-SANITIZER
END
log more <<'END'
========= COMPUTE-SANITIZER
========= RACECHECK SUMMARY: 3 hazards displayed (3 errors, 0 warnings)
END
log overflow <<'END'
========= COMPUTE-SANITIZER
========= Warning: Maximum number of hazards reached. More are not counted.
========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)
END

cp racecheck.txt "$folder/pairs"
expect 0 '0 listed, 0 not|' clean
expect 1 '0 listed, 3 not|Write rdl_publish lead.cl:52 and Read rdl_launch lead.cl:244 (1 times, 62 hazards)|Write rdl_publish lead.cl:52 and Write rdl_launch lead.cl:246 (1 times, 1 hazards)|Read wide_run and Write wide_run (1 times, 31 hazards)|' places
expect 1 '0 listed, 1 not|Read rdl_launch lead.cl:244 and Write rdl_publish lead.cl:52 (1 times, 62 hazards)|' older
expect 1 '0 listed, 1 not|Write rdl_publish and Read rdl_launch (1 times, 62 hazards)|' mangled
expect 1 '0 listed, 1 not|Write rdl_publish and Read rdl_launch (1 times, 1 hazards)|' one_line
expect 1 '0 listed, 0 not|cut: no summary, so it was cut short|' cut
expect 1 '0 listed, 0 not|more: 3 reports are counted, 0 were read|' more
expect 1 '0 listed, 0 not|overflow: ========= Warning: Maximum number of hazards reached. More are not counted.|' overflow

# A pair without places is any place; one with places is that one.
cat >"$folder/pairs" <<'END'
# They meet at a barrier.
Read rdl_launch and Write rdl_publish
Write rdl_launch lead.cl:247 and Write rdl_publish
END
expect 0 '2 listed, 0 not|' older mangled
expect 1 '1 listed, 2 not|Write rdl_publish lead.cl:52 and Write rdl_launch lead.cl:246 (1 times, 1 hazards)|Read wide_run and Write wide_run (1 times, 31 hazards)|' places
expect 1 '1 listed, 0 not|cut: no summary, so it was cut short|' older cut
sed -i 's/247/246/; $a Write wide_run and Read wide_run' "$folder/pairs"
expect 0 '4 listed, 0 not|' places clean one_line

echo 'Write a and Read b' >"$folder/pairs"
expect 2 'pairs:1: no ordering stands above Write a and Read b|' clean
printf '# why\nWrite a, Read b\n' >"$folder/pairs"
expect 2 'pairs:2: no pair of accesses: Write a, Read b|' clean
exit "$failed"
