#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the scripts for boards with Linux. Stand-ins replace ssh and adb (they run commands here), the board (a folder), its
# tool (this machine's) and cmake (it logs its arguments).
#   steps_test.sh SOURCE_DIR TOOL MODEL
set -euo pipefail
source=$1 tool=$2 model=$3
export SCRATCH TOOL=$tool TREE BOARD
SCRATCH=$(mktemp -d)
trap 'rm -rf "$SCRATCH"' EXIT
trap 'echo "line $LINENO has failed"' ERR
TREE=$SCRATCH/tree BOARD=$SCRATCH/board
mkdir -p "$TREE/toolchains" "$BOARD" "$SCRATCH"/{fake,on-board,few,ndk/build/cmake}
ln -s "$source/targets" "$TREE/targets"
touch "$SCRATCH/ndk/build/cmake/android.toolchain.cmake"
for program in bash cat dirname grep mktemp rm wc; do ln -s "$(command -v "$program")" "$SCRATCH/few/"; done

# script FILE: makes an executable from the text on stdin.
script() {
  { echo '#!/bin/bash'; cat; } >"$1"
  chmod +x "$1"
}
echo 'build_packages=""; install_packages() { echo "packages: $*"; }' >"$TREE/toolchains/install_packages.sh"
script "$TREE/toolchains/make_sysroot.sh" <<'FAKE'
for triple in aarch64-linux-gnu arm-linux-gnueabihf; do
  mkdir -p "$TREE/build/sysroot-$1/usr/lib/$triple"
  touch "$TREE/build/sysroot-$1/usr/lib/$triple"/libpthreadpool.so.0
done
FAKE
script "$TREE/toolchains/build_tool.sh" <<'FAKE'
mkdir -p "$TREE/build/release/targets/cli"
ln -sf "$TOOL" "$TREE/build/release/targets/cli/embert"
FAKE
script "$SCRATCH/fake/cmake" <<'FAKE'
echo "$*" >>"$SCRATCH/cmake.log"
case "$1" in
  --install) mkdir -p "$4/bin" && cp "$TOOL" "$4/bin/embert" ;;
  --build) mkdir -p "$2/targets/cli" && ln -sf "$TOOL" "$2/targets/cli/embert" ;;
esac
FAKE
script "$SCRATCH/fake/ssh" <<'FAKE'
[ "${*: -2:1}" = pi ] || { echo "ssh: connect to host ${*: -2:1} port 22: No route to host" >&2; exit 255; }
cd "$BOARD"
${CUT:-cat} | PATH=$SCRATCH/on-board:$PATH exec sh -c "${*: -1}"
FAKE
script "$SCRATCH/fake/adb" <<'FAKE'
[ -z "${ANDROID_SERIAL:-}" ] || { echo "error: device '$ANDROID_SERIAL' not found" >&2; exit 1; }
there() { echo "${1//\/data\/local\/tmp/$BOARD}"; }
case "$1" in
  shell) PATH=$SCRATCH/on-board:$PATH exec sh -c "$(there "$3")" ;;
  push) cp "$2" "$(there "$3")" && echo "$2: 1 file pushed" ;;
esac
FAKE
# shellcheck disable=SC2016
script "$SCRATCH/on-board/uname" <<<'echo "${MACHINE:-aarch64}"'
# shellcheck disable=SC2016
script "$SCRATCH/on-board/getconf" <<<'echo "${BITS:-64}"'
PATH=$SCRATCH/fake:$PATH
unset ANDROID_SERIAL ANDROID_NDK_HOME

# run SCRIPT ARGUMENT...: writes $SCRATCH/out and $SCRATCH/err.
run() {
  echo "-- $*"
  "$TREE/targets/$1/run.sh" "${@:2}" --model "$model" >"$SCRATCH/out" 2>"$SCRATCH/err" </dev/null
}
works() { run "$@" || { cat "$SCRATCH/out" "$SCRATCH/err"; exit 1; }; }
shows() { grep -q -- "$1" "$SCRATCH/$2" || { echo "$2 does not have: $1"; cat "$SCRATCH/$2"; exit 1; }; }
# refused TEXT SCRIPT ARGUMENT...: the script exits with 1 and writes one line, which has TEXT.
refused() {
  local status=0
  run "${@:2}" || status=$?
  shows "$1" err
  [ "$status $(wc -l <"$SCRATCH/err")" = "1 1" ] || { echo "status $status"; cat "$SCRATCH/err"; exit 1; }
}
answered() {
  shows 'report_lost_card' out
  shows '^same_bits  *12$' out
  shows '^asked_again  *0$' out
  shows 'median_ms' out
}

refused 'build/board-aarch64/package/bin/embert is missing: run the step build' raspberry-pi pi copy
works raspberry-pi pi
answered
shows "--preset aarch64 -S $TREE -B $TREE/build/board-aarch64 .*INSTALL_RPATH=\$ORIGIN" cmake.log
[ "$(cd "$BOARD/embert" && echo *)" = "embert libpthreadpool.so.0 model.emb" ]
works raspberry-pi pi copy
[ "$(grep -c 'is there$' "$SCRATCH/out")" = 3 ]
BITS=32 works raspberry-pi pi build
shows '--preset armv7' cmake.log
MACHINE=armv7l BITS=32 works raspberry-pi pi copy

"$tool" classify "$model" <"$source/targets/demo/sentences.txt" | awk -F '\t' '{ print $3 "\t" $2 }' >"$SCRATCH/labelled"
works raspberry-pi pi run validate --labelled "$SCRATCH/labelled"
shows '^accuracy_device  *1\.0000$' out
shows 'translate good night into Portuguese$' out

refused 'nowhere cannot be reached: .*No route to host (try: ssh ' raspberry-pi nowhere
MACHINE=x86_64 refused 'pi is x86_64 64 (uname -m): expected aarch64 or armv7l' raspberry-pi pi
PATH=$SCRATCH/few refused 'ssh is not installed (Debian: openssh-client)' raspberry-pi pi
refused '--texts: there is no file "none"' raspberry-pi pi run --texts none
cp "$tool" "$BOARD/embert/model.emb"
refused 'pi has no embert/model.emb that is .*: run the step copy first' raspberry-pi pi run
refused 'pi has no embert/model.emb that is .*: run the step copy first' raspberry-pi pi bench
rm "$BOARD/embert/model.emb"
refused 'pi has no embert/model.emb that is .*: run the step copy first' raspberry-pi pi run
CUT='head -c 1000' refused 'embert/model.emb cannot be written: the copy is damaged' raspberry-pi pi copy
ln -s /dev/full "$BOARD/embert/model.emb.part"
refused 'embert/model.emb cannot be written: .*No space left on device' raspberry-pi pi copy
[ ! -e "$BOARD/embert/model.emb" ]
script "$TREE/build/board-aarch64/package/bin/embert" <<<'echo "version GLIBC_2.99 not found" >&2; exit 1'
refused 'pi: embert does not start: version GLIBC_2.99 not found' raspberry-pi pi copy

rm -rf "$BOARD/embert"
refused 'ANDROID_NDK_HOME= does not name an Android NDK' android build
export ANDROID_NDK_HOME=$SCRATCH/ndk
works android
answered
shows '--preset android' cmake.log
[ "$(cd "$BOARD/embert" && echo *)" = "embert model.emb" ]
ANDROID_SERIAL=gone refused "gone cannot be reached: error: device 'gone' not found (try: adb shell" android run
MACHINE=armv7l BITS=32 refused 'the Android device is armv7l 32 (uname -m): expected aarch64' android run
BITS=32 refused 'has a 32-bit Android' android run
rm "$BOARD/embert/model.emb"
ln -s /dev/full "$BOARD/embert/model.emb.part"
refused '/data/local/tmp/embert/model.emb cannot be written: .*No space left on device' android copy
echo "all as expected"
