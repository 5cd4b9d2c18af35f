#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a program for Cortex-M on an emulated board, with the host's files and terminal (semihosting):
#   toolchains/run_board.sh BOARD PROGRAM [ARGUMENT...]
# The program does not see the environment, so what GoogleTest reads there becomes an argument.
set -euo pipefail
[ $# -ge 2 ] || { echo "Usage: toolchains/run_board.sh BOARD PROGRAM [ARGUMENT...]" >&2; exit 1; }
board=$1
program=$2
shift 2
[ -z "${GTEST_FILTER:-}" ] || set -- "$@" "--gtest_filter=$GTEST_FILTER"
semihosting=enable=on,target=native,arg=${program##*/}
for argument in "$@"; do semihosting+=,arg=${argument//,/,,}; done # a comma in a value is written twice
exec qemu-system-arm -M "$board" -display none -monitor none -serial none \
  -semihosting-config "$semihosting" -kernel "$program"
