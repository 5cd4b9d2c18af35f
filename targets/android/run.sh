#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# embert on a phone or board with Android, over adb. See --help.
# shellcheck disable=SC2034,SC2119
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/targets/linux-board/steps.sh"
script=targets/android/run.sh

usage() {
  cat <<'HELP'
Usage: targets/android/run.sh [STEP...] [--model MODEL] [--texts FILE | --labelled FILE]

embert on an Android device, over adb; ANDROID_SERIAL chooses one of several. Without a STEP all of them:

  build     installs missing packages (apt, as root or with sudo), builds the tool for this machine and, with the NDK of
            ANDROID_NDK_HOME, for the device, and converts the model
  copy      copies tool and model to /data/local/tmp/embert
  run       answers the texts on the device
  validate  runs the texts on the device and here; fails unless both give the same bits
  bench     times the encoder on the device

  --model MODEL   a Hugging Face folder or a converted model; default: targets/demo/tiny-intent
  --texts FILE    a text a line; default: targets/demo/sentences.txt
  --labelled FILE instead, lines of a text, a tab and its label: validate shows the accuracy
HELP
}

board=${ANDROID_SERIAL:-the Android device}
package=adb
connect=(adb shell -T) # -T: no terminal, which would change bytes
folder=/data/local/tmp/embert
threads=1 # the preset has no thread pool

preset_of() {
  case "$1" in
    "aarch64 32") fail "$board has a 32-bit Android on 64-bit ARM: expected a 64-bit one" ;;
    aarch64*) echo android ;;
    *) fail "$board is $1 (uname -m): expected aarch64" ;;
  esac
}

# adb writes its errors on stdout.
send() { adb push "$1" "$2" >&2; }

make_tool() {
  [ -f "${ANDROID_NDK_HOME:-}/build/cmake/android.toolchain.cmake" ] ||
    fail "ANDROID_NDK_HOME=${ANDROID_NDK_HOME:-} does not name an Android NDK: unpack one and export its folder"
  "$root/toolchains/make_sysroot.sh" arm64 # for the headers
  build_tool
}

run_steps "$@"
