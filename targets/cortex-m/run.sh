#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The intent demo on an emulated Cortex-M: text in, intent out, over the board's serial port. See --help.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)

usage() {
  cat <<'HELP'
Usage: targets/cortex-m/run.sh [--processor NAME] [--model HF_DIR] [--precision LEVEL] [--validate FILE | --labelled FILE | --build]

Installs missing packages (apt, as root or with sudo), builds the embert tool in build/release, converts the model, builds
the firmware with it in build/firmware-NAME, and runs the firmware in QEMU: a line of text in, its intent and score out. On a
terminal type lines and end with Ctrl-D; otherwise the lines come from stdin. QEMU's clock counts one nanosecond for each
instruction, so ticks say nothing about the time on a real board.

  --processor NAME  cortex-m55 (the default), cortex-m33, cortex-m7 or cortex-m4
  --model HF_DIR    a classifier; default: the bundled model, targets/demo/tiny-intent
  --precision LEVEL fast, balanced or high, as for `embert convert`
  --validate FILE   instead runs the lines of FILE on firmware and desktop, which must give the same bits
  --labelled FILE   the same with lines of a text, a tab and its label: shows the accuracy, too
  --build           only builds, and prints the command that runs the firmware with its serial port on stdin and stdout
HELP
}

refuse() { echo "targets/cortex-m/run.sh: $*" >&2; exit 1; }

processor=cortex-m55
model=$root/targets/demo/tiny-intent
precision=()
texts=""
kind=--texts
only_build=""
while [ $# -gt 0 ]; do
  case "$1" in
    --processor) processor=${2:-}; shift ;;
    --model) model=${2:-}; shift ;;
    --precision) precision=(--precision "${2:-}"); shift ;;
    --validate) texts=${2:-}; shift ;;
    --labelled) texts=${2:-}; kind=--labelled; shift ;;
    --build) only_build=1 ;;
    -h | --help) usage; exit 0 ;;
    *) echo "targets/cortex-m/run.sh: unknown option $1" >&2; usage >&2; exit 1 ;;
  esac
  shift || { usage >&2; exit 1; }
done
case "$processor" in
  cortex-m55) board=mps3-an547 machine=mps3-an547 ;;
  cortex-m7) board=mps2 machine=mps2-an500 ;;
  cortex-m4) board=mps2 machine=mps2-an386 ;;
  cortex-m33) board=mps2-an505 machine=mps2-an505 ;;
  *) refuse "--processor: cortex-m55, cortex-m33, cortex-m7 or cortex-m4, not ${processor:-nothing}" ;;
esac
[ -d "$model" ] || refuse "--model: there is no folder \"$model\""
[ -z "$texts" ] || [ -f "$texts" ] || refuse "--validate or --labelled: there is no file \"$texts\""
[ -z "$only_build" ] || [ -z "$texts" ] || refuse "--build and --validate exclude each other"

step() { printf '\n== %s\n' "$*" >&2; }
build=$root/build/firmware-$processor
blob=$build/model.emb
embert=$root/build/release/targets/cli/embert
firmware=$build/targets/cortex-m/boards/$board/$board.elf
qemu="qemu-system-arm -M $machine -icount shift=0 -semihosting -kernel $(printf %q "$firmware")"
quiet="-display none -monitor none -serial stdio"

{
  step "Packages"
  . "$root/toolchains/install_packages.sh"
  install_packages $cortex_m_packages

  step "The tool, and the model"
  "$root/toolchains/build_tool.sh"
  mkdir -p "$build"
  "$embert" convert "$model" -o "$blob" ${precision[@]+"${precision[@]}"}
  tokenizer=$("$embert" inspect --json "$blob" | python3 -c 'import json, sys; print(json.load(sys.stdin)["tokenizer"]["type"])')

  step "The firmware"
  cmake --preset "$processor" -S "$root" -B "$build" --log-level=WARNING -DEMBERT_TESTS=OFF \
    -DEMBERT_FIRMWARE="$board" -DEMBERT_FIRMWARE_MODEL="$blob" -DEMBERT_TOKENIZERS="$tokenizer"
  cmake --build "$build" -j "$(nproc)"
  arm-none-eabi-size "$firmware"
} >&2

if [ -n "$only_build" ]; then
  echo "$qemu $quiet"
  exit
fi
if [ -n "$texts" ]; then
  step "Texts through the firmware in QEMU"
  exec "$embert" device validate "$blob" --on "exec:exec $qemu $quiet" "$kind" "$texts"
fi
step "QEMU"
# The emulator would run for ever; talk.py ends it after the last answer.
exec python3 "$root/targets/cortex-m/talk.py" "$qemu $quiet"
