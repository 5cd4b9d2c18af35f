#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs a build into a scratch folder and uses it as a stranger would: find_package and pkg-config.
#   install_and_use.sh BUILD_DIR SCRATCH_DIR CMAKE C_COMPILER MODEL TEXT ANSWER
# For another system the environment says more: CMAKE_TOOLCHAIN_FILE, CFLAGS, LDFLAGS, SOURCES that a program has there,
# and EMULATE, which runs it.
set -euo pipefail
build=$1 scratch=$2 cmake=$3 cc=$4 model=$5 text=$6 answer=$7 emulate=${EMULATE:-env} sources=${SOURCES:-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
rm -rf "$scratch"
"$cmake" --install "$build" --prefix "$scratch/first" >/dev/null
mv "$scratch/first" "$scratch/prefix" # an installed tree can be moved
if grep -rlF "$build" "$scratch/prefix" --include='*.cmake' --include='*.pc'; then
  echo "The installed files name the build" >&2
  exit 1
fi

try() {
  echo "-- $1"
  "$emulate" "$1"
  "$emulate" "$1" "$model" "$text" | tee "$scratch/answer"
  grep -q "^$answer" "$scratch/answer"
}

"$cmake" -S "$here/project" -B "$scratch/build" -G Ninja --log-level=WARNING \
  -DCMAKE_PREFIX_PATH="$scratch/prefix" -DCMAKE_FIND_ROOT_PATH="$scratch/prefix" -DCMAKE_C_COMPILER="$cc" \
  -DBOARD_SOURCES="${sources// /;}"
"$cmake" --build "$scratch/build" >/dev/null
try "$scratch/build/consumer"

pc=$(find "$scratch/prefix" -name embert.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046,SC2086
"$cc" ${CFLAGS:-} ${LDFLAGS:-} -std=c99 -Wall -Wextra -Wpedantic -Werror "$here/project/consumer.c" $sources \
  -o "$scratch/with-pkg-config" $(pkg-config --cflags --libs embert)
try "$scratch/with-pkg-config"
