#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# compile_test.sh COMPILER ARGUMENT...: passes when the compiler does; skips when there is none.
set -eu
if ! command -v "$1" >/dev/null; then
  echo "the compiler $1 is not installed"
  exit 77
fi
exec "$@"
