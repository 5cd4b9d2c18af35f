#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The intent demo on an emulated Cortex-M55: text over the board's serial line in, intent out. See --help.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)

usage() {
  cat <<'HELP'
Usage: targets/mps3-an547/run.sh [--model HF_DIR] [--validate FILE [--labelled]]

Installs what is missing (apt, as root or with sudo), builds the embert tool in build/demo and converts the model, builds
the firmware with it in build/firmware-m55, and runs that in QEMU: a line of text in, its intent and score out. On a
terminal type lines, Ctrl-A X ends; else the lines are those of stdin.

  --model HF_DIR   a classifier; default: the bundled model, targets/demo/tiny-intent
  --validate FILE  instead, the lines of FILE through firmware and desktop, which must give the same bits
  --labelled       ... and lines are a text, a tab and its label: shows the accuracy
HELP
}

model=$root/targets/demo/tiny-intent
texts=""
labelled=""
while [ $# -gt 0 ]; do
  case "$1" in
    --model) model=$2; shift ;;
    --validate) texts=$2; shift ;;
    --labelled) labelled=--labelled ;;
    -h | --help) usage; exit 0 ;;
    *) echo "targets/mps3-an547/run.sh: unknown option $1" >&2; usage >&2; exit 1 ;;
  esac
  shift
done

step() { printf '\n== %s\n' "$*" >&2; }
blob=$root/build/firmware-m55/model.emb
embert=$root/build/demo/targets/cli/embert
firmware=$root/build/firmware-m55/targets/mps3-an547/mps3-an547.elf
qemu="qemu-system-arm -M mps3-an547 -display none -monitor none -kernel $firmware"

{
  step "Packages"
  . "$root/toolchains/install_packages.sh"
  # shellcheck disable=SC2086
  install_packages $build_packages $cross_packages

  step "The tool, and the model"
  cmake -S "$root" -B "$root/build/demo" -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=Release -DEMBERT_TESTS=OFF
  cmake --build "$root/build/demo" --target embert_tool -j "$(nproc)"
  mkdir -p "$root/build/firmware-m55"
  "$embert" convert "$model" -o "$blob"

  step "The firmware"
  cmake --preset cortex-m55 -S "$root" -B "$root/build/firmware-m55" --log-level=WARNING -DEMBERT_TESTS=OFF \
    -DEMBERT_FIRMWARE=mps3-an547 -DEMBERT_FIRMWARE_MODEL="$blob"
  cmake --build "$root/build/firmware-m55" -j "$(nproc)"
  arm-none-eabi-size "$firmware"
} >&2

if [ -n "$texts" ]; then
  step "Texts through the firmware in QEMU"
  exec "$embert" device validate "$blob" --on "exec:exec $qemu -serial stdio" --texts "$texts" $labelled
fi
step "QEMU"
if [ -t 0 ]; then
  exec qemu-system-arm -M mps3-an547 -nographic -kernel "$firmware"
fi
# The emulator has no end of its own: it ends when the last line has its answer.
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
cat >"$lines"
python3 "$root/targets/cortex-m/talk.py" "$qemu -serial stdio" <"$lines"
