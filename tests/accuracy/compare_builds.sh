#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The same bits from gcc and clang, -O0 and -O3: builds answer_bits_test in all four ways, runs each on the
# same blobs and compares the checksums that they print. Both compilers' converters must also make the same
# bytes, with one thread and with two.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

if [ "${1-}" = --help ] || [ "${1-}" = -h ]; then
  cat <<'HELP'
Usage: tests/accuracy/compare_builds.sh [MODEL.emb ...]

Without models the bundled one is converted. Builds lie in build/compare-*. EMBERT_FULL=1 runs whole texts instead
of their first 16 tokens. A large model takes long with the scalar kernels at -O0.

Example:
  tests/accuracy/compare_builds.sh
HELP
  exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
jobs=$(nproc)

# build NAME CC CXX BUILD_TYPE TARGET...
build() {
  dir=$root/build/compare-$1
  cmake -S "$root" -B "$dir" -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE="$4" -DCMAKE_C_COMPILER="$2" \
    -DCMAKE_CXX_COMPILER="$3" -DEMBERT_TESTS=ON
  cmake --build "$dir" -j "$jobs" --target "${@:5}"
}

echo "== Build"
build gcc-O3 gcc g++ Release answer_bits_test embert_tool
build clang-O3 clang clang++ Release answer_bits_test embert_tool
build gcc-O0 gcc g++ Debug answer_bits_test
build clang-O0 clang clang++ Debug answer_bits_test

echo "== Converters"
folder=$root/targets/demo/tiny-intent
for name in gcc-O3 clang-O3; do
  for threads in 1 2; do
    "$root/build/compare-$name/targets/cli/embert" convert "$folder" -o "$work/$name-$threads.emb" \
      --threads "$threads" >/dev/null
  done
done
cp "$work/gcc-O3-1.emb" "$work/tiny-intent.emb"
failed=0
for blob in "$work"/*-O3-?.emb; do
  if cmp "$work/tiny-intent.emb" "$blob"; then
    echo "$(basename "$blob"): the same $(stat -c %s "$blob") bytes"
  else
    failed=1
  fi
done

echo "== Answers"
blobs=("$@")
if [ $# = 0 ]; then blobs=("$work/tiny-intent.emb"); fi
EMBERT_BITS_BLOBS=$(IFS=:; echo "${blobs[*]}")
export EMBERT_BITS_BLOBS
for name in gcc-O3 clang-O3 gcc-O0 clang-O0; do
  echo "-- $name"
  "$root/build/compare-$name/tests/accuracy/answer_bits_test" >"$work/$name.log" || {
    cat "$work/$name.log"
    failed=1
  }
  grep '^CRC-32C' "$work/$name.log" | tee "$work/$name.crc" || {
    echo "$name prints no checksum"
    failed=1
  }
  if ! cmp -s "$work/gcc-O3.crc" "$work/$name.crc"; then
    echo "$name differs from gcc-O3"
    failed=1
  fi
done

if [ "$failed" = 0 ]; then echo "All the same."; else echo "NOT the same."; fi
exit "$failed"
