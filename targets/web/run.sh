#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# targets/web/run.sh:         builds the page in build/web and serves it on this machine alone; PORT, default 8000.
# targets/web/run.sh --build: the page and the JavaScript package (build/web/package), without serving.
# targets/web/run.sh --test:  the same, then the kernel tests as WebAssembly in Node, and package and page in Node and
#                             headless Chromium, beside the command line tool.
# targets/web/run.sh --bench [MODEL.emb=MACS ...]: sizes and times of the package in Node and headless Chromium, with the
#                             bundled models and others; MACS: million multiply-adds of a token, all-MiniLM-L6-v2 has 10.6.
# Needs clang, wasm-ld (Debian: lld), cmake, ninja and what the tool needs; for --test node 18 or later, chromium and a C++
# library on WASI.
set -euo pipefail
cd "$(dirname "$0")/../.."

usage() {
  sed -n 's/^# \(targets\|Needs\)/\1/p' "$0" >&2
  exit 2
}
# fits BYTES FILE...
fits() {
  local bytes file
  for file in "${@:2}"; do
    bytes=$(wc -c <"$file")
    if ((bytes > $1)); then
      echo "$file has $bytes bytes, at most $1 are allowed" >&2
      exit 1
    fi
  done
}

case ${1:-} in "" | --build | --test) (($# <= 1)) || usage ;; --bench) ;; *) usage ;; esac

web=build/web package=build/web/package tool=build/release/targets/cli/embert
mkdir -p "$package" "$web/models"
cp targets/web/package/* LICENSE "$package"
cp targets/web/page/* "$web"
for preset in wasm32 wasm32-simd128; do
  cmake --preset "$preset" >"$web/$preset.log" || { cat "$web/$preset.log" >&2; exit 1; }
  cmake --build --preset "$preset"
  cp "build/$preset"/targets/web/*.wasm "$package"
done
toolchains/build_tool.sh
"$tool" convert targets/demo/tiny-intent -o "$web/models/tiny-intent.emb" >/dev/null
"$tool" convert targets/web/tiny-embed -o "$web/models/tiny-embed.emb" >/dev/null
ls -l "$package"
case ${1:-} in
  --build) ;;
  --bench)
    rm -rf "$web/bench"
    cp -r targets/web/bench "$web"
    EMBERT_WEB=$PWD/$web node "$web/bench/bench.mjs" "${@:2}"
    ;;
  --test)
    # No module grows beyond what its users wait for.
    cmake --preset wasm32-simd128 -B build/wasm32-bert -DEMBERT_FAMILIES= -DEMBERT_TOKENIZERS=wordpiece \
      >"$web/wasm32-bert.log"
    cmake --build build/wasm32-bert
    fits 300000 "$package"/*.wasm
    fits 160000 build/wasm32-bert/targets/web/*.wasm
    if [ -e /usr/include/wasm32-wasi ]; then
      cmake --preset wasm32-tests >"$web/wasm32-tests.log" || { cat "$web/wasm32-tests.log" >&2; exit 1; }
      cmake --build --preset wasm32-tests
      ctest --preset wasm32-tests
    else
      echo "SKIPPED: the kernel tests as WebAssembly need a C++ library on WASI (Debian: wasi-libc libc++-14-dev-wasm32" \
        "libc++abi-14-dev-wasm32 libclang-rt-14-dev-wasm32)"
    fi
    EMBERT_WEB=$PWD/$web EMBERT_TOOL=$PWD/$tool EMBERT_TEXTS=$PWD/tests/data/tiny-intent/test.tsv \
      node --test tests/targets/web/*.test.mjs
    ;;
  *)
    echo "http://127.0.0.1:${PORT:-8000}/"
    exec python3 -m http.server --bind 127.0.0.1 --directory "$web" "${PORT:-8000}"
    ;;
esac
