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

# A program that was compiled against shorter structs: in a copy of the headers the last members are cut, as if a version
# after theirs had added them. It must give the same answer with the same library.
cp -r "$(dirname "$(find "$scratch/prefix" -name embert.h)")/.." "$scratch/older"
cut_before() { # STRUCT MEMBER HEADER: removes MEMBER and the members behind it
  sed -i "/^typedef struct $1 {/,/^} $1;/{/ \**$2;/,/^} $1;/{/^} $1;/!d}}" "$scratch/older/embert/$3"
}
cut_before embert_options parallel_for embert.h
cut_before embert_input head_mask embert_run.h
cut_before embert_output attentions embert_run.h
cut_before embert_tokens word_ids embert_tokenizer.h
run_with() { # OUTPUT FLAGS: compiles and runs shorter_structs.c
  # shellcheck disable=SC2046,SC2086
  "$cc" ${CFLAGS:-} ${LDFLAGS:-} $2 -std=c99 -Wall -Wextra -Wpedantic -Werror "$here/project/shorter_structs.c" $sources -o "$1" \
    $(pkg-config --cflags --libs embert)
  "$emulate" "$1" "$model" "$text"
}
run_with "$scratch/whole" "" >"$scratch/whole.txt" 2>"$scratch/whole.sizes"
run_with "$scratch/short" "-I$scratch/older" >"$scratch/short.txt" 2>"$scratch/short.sizes"
cat "$scratch/whole.sizes" "$scratch/short.sizes" "$scratch/short.txt"
cmp "$scratch/whole.txt" "$scratch/short.txt"
if cmp -s "$scratch/whole.sizes" "$scratch/short.sizes"; then
  echo "The older headers have structs as long as today's" >&2
  exit 1
fi
