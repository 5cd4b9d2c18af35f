#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs a Cortex-M build into a scratch folder, moves it, builds a firmware against it outside the tree and runs that in QEMU:
#   build_firmware.sh BUILD_DIR SCRATCH_DIR CMAKE TOOLCHAIN_FILE BOARD MACHINE MODEL
set -euo pipefail
build=$1 scratch=$2 cmake=$3 toolchain=$4 board=$5 machine=$6 model=$7
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
rm -rf "$scratch"
"$cmake" --install "$build" --prefix "$scratch/first" >/dev/null
mv "$scratch/first" "$scratch/prefix"
cp -r "$here/firmware" "$scratch/project"
"$cmake" -S "$scratch/project" -B "$scratch/build" -G Ninja --log-level=WARNING --toolchain "$toolchain" \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$scratch/prefix" -DCMAKE_FIND_ROOT_PATH="$scratch/prefix" \
  -DBOARD="$board" -DEMBERT_FIRMWARE_MODEL="$model"
"$cmake" --build "$scratch/build"
echo hello | python3 "$scratch/prefix/share/embert/targets/cortex-m/talk.py" \
  "qemu-system-arm -M $machine -semihosting -kernel $(printf %q "$scratch/build/my-firmware.elf") -display none -monitor none -serial stdio" |
  tee "$scratch/said"
grep -q "^embert .* on $board, kernels" "$scratch/said"
grep -q "label[0-9]*  (.* tokens" "$scratch/said"
