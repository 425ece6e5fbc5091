#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The shared library exports the public names rdl_*, and neither an internal rdl__* nor anything else.
set -eu
names=$(nm --dynamic --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }')
if ! printf '%s\n' "$names" | grep -qx rdl_version; then
  echo "rdl_version is not exported"
  exit 1
fi
if printf '%s\n' "$names" | grep -Ev '^rdl_[^_]'; then
  echo "the names above must not be exported"
  exit 1
fi
