#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# targets/web/run.sh --build: the JavaScript package with both WebAssembly modules, in build/web/package.
# targets/web/run.sh --test:  the package in Node, beside the command line tool of build/release.
# Needs clang, wasm-ld (Debian: lld), cmake and ninja; for --test node 18 or later and what the tool needs.
set -euo pipefail
cd "$(dirname "$0")/../.."

usage() {
  sed -n 's/^# \(targets\|Needs\)/\1/p' "$0" >&2
  exit 2
}
(($# == 1)) || usage
case $1 in --build | --test) ;; *) usage ;; esac

package=build/web/package
mkdir -p "$package"
for preset in wasm32 wasm32-simd128; do
  cmake --preset "$preset" >"build/web/$preset.log" || { cat "build/web/$preset.log" >&2; exit 1; }
  cmake --build --preset "$preset"
  cp "build/$preset"/targets/web/*.wasm "$package"
done
cp targets/web/package/* LICENSE "$package"
ls -l "$package"
if [ "$1" = --build ]; then exit; fi

tool=build/release/targets/cli/embert model=build/web/tiny-intent.emb
if [ ! -x "$tool" ]; then
  cmake --preset release
  cmake --build --preset release --target embert_tool
fi
"$tool" convert targets/demo/tiny-intent -o "$model" >/dev/null
EMBERT_PACKAGE=$PWD/$package EMBERT_TOOL=$PWD/$tool EMBERT_MODEL=$PWD/$model \
  EMBERT_TEXTS=$PWD/tests/data/tiny-intent/test.tsv node --test tests/targets/web
