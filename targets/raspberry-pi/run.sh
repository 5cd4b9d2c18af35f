#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# embert on a Raspberry Pi, or another ARM board with Linux, over ssh. See --help.
# shellcheck disable=SC2034,SC2119
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/targets/linux-board/steps.sh"
script=targets/raspberry-pi/run.sh

usage() {
  cat <<'HELP'
Usage: targets/raspberry-pi/run.sh HOST [STEP...] [--model MODEL] [--texts FILE | --labelled FILE]

embert on a board that ssh reaches as HOST: a name of ~/.ssh/config, USER@ADDRESS or ssh://USER@ADDRESS:PORT.
Without a STEP all of them:

  build     installs missing packages (apt, as root or with sudo), builds the tool for this machine and for the board, and
            converts the model
  copy      copies tool and model to the folder embert in the board's home
  run       answers the texts on the board
  validate  runs the texts on the board and here; fails unless both give the same bits
  bench     times the encoder on the board

  --model MODEL   a Hugging Face folder or a converted model; default: targets/demo/tiny-intent
  --texts FILE    a text a line; default: targets/demo/sentences.txt
  --labelled FILE instead, lines of a text, a tab and its label: validate shows the accuracy
HELP
}

case "${1:-}" in
  -h | --help) usage; exit 0 ;;
  "" | -*) usage >&2; exit 1 ;;
esac
board=$1
shift
package=openssh-client
connect=(ssh -T -o ConnectTimeout=10 "$board")
folder=embert
threads=1,0 # 0: all processors

# A 64-bit kernel may run a 32-bit system.
preset_of() {
  case "$1" in
    "aarch64 32" | armv7l* | armv8l*) echo armv7 ;;
    aarch64*) echo aarch64 ;;
    *) fail "$board is $1 (uname -m): expected aarch64 or armv7l" ;;
  esac
}

# Through the shell, because not every board has the programs that scp and rsync need.
send() { on_board "cat >$2" <"$1"; }

make_tool() {
  local triple=aarch64-linux-gnu architecture=arm64
  if [ "$preset" = armv7 ]; then triple=arm-linux-gnueabihf architecture=armhf; fi
  install_packages "g++-$triple"
  "$root/toolchains/make_sysroot.sh" "$architecture"
  # shellcheck disable=SC2016
  build_tool '-DCMAKE_INSTALL_RPATH=$ORIGIN'
  # Boards rarely have this library.
  cp -L "$root/build/sysroot-$architecture/usr/lib/$triple"/libpthreadpool.so.? "$build/package/bin/"
}

run_steps "$@"
