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
Usage: targets/android/run.sh [STEP...] [--model MODEL] [--texts FILE [--labelled]]

embert on the device of adb; of several ANDROID_SERIAL names one. Without a STEP all of them:

  build     installs what this machine lacks (apt, as root or with sudo), builds the tool for it and, with the NDK that
            ANDROID_NDK_HOME names, for the device and converts the model
  copy      tool and model, to /data/local/tmp/embert
  run       the texts, answered on the device
  validate  the texts on the device and here: the same bits, or it fails
  bench     times the encoder on the device

  --model MODEL   a Hugging Face folder or a converted model; default: targets/demo/tiny-intent
  --texts FILE    a text a line; default: targets/demo/sentences.txt
  --labelled      lines are a text, a tab and its label: validate shows the accuracy
HELP
}

board=${ANDROID_SERIAL:-the Android device}
package=adb
connect=(adb shell -T) # bytes as they are, no terminal
folder=/data/local/tmp/embert
threads=1 # the preset has no thread pool

preset_of() {
  case "$1" in
    "aarch64 32") fail "$board has a 32-bit Android on 64-bit ARM: expected a 64-bit one" ;;
    aarch64*) echo android ;;
    *) fail "$board is $1 (uname -m): expected aarch64" ;;
  esac
}

# adb reports on stdout what fails.
send() { adb push "$1" "$2" >&2; }

make_tool() {
  [ -f "${ANDROID_NDK_HOME:-}/build/cmake/android.toolchain.cmake" ] ||
    fail "ANDROID_NDK_HOME=${ANDROID_NDK_HOME:-} does not name an Android NDK: unpack one and export its folder"
  "$root/toolchains/make_sysroot.sh" arm64 # for headers
  build_tool
}

run_steps "$@"
