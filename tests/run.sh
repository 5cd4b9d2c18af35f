#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds and runs all tests. See --help.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

usage() {
  cat <<'HELP'
Usage: tests/run.sh [--full] [--werror]

Installs what is missing (apt, as root or with sudo), builds embert in build/release and runs all tests with ctest.
The second time it only builds what changed.

  --full     full vectors and corpora instead of samples (EMBERT_FULL=1), and all tests once more built with -O0
  --werror   compiler warnings are errors
  --help     this text

Example:
  ./tests/run.sh
HELP
}

full=0
werror=OFF
for argument in "$@"; do
  case "$argument" in
    --full) full=1 ;;
    --werror) werror=ON ;;
    -h | --help) usage; exit 0 ;;
    *) echo "tests/run.sh: unknown option $argument" >&2; usage >&2; exit 1 ;;
  esac
done

step() { printf '\n== %s\n' "$*"; }

step "Packages"
. "$root/toolchains/install_packages.sh"
# shellcheck disable=SC2086
install_packages $build_packages $test_packages
echo "all there"

jobs=$(nproc)

build_and_test() {
  preset=$1
  cd "$root"
  step "Configure build/$preset"
  cmake --preset "$preset" --log-level=WARNING -DEMBERT_TESTS=ON -DEMBERT_WERROR="$werror" \
    -DCMAKE_CROSSCOMPILING_EMULATOR=
  step "Build with $jobs jobs"
  cmake --build --preset "$preset" -j "$jobs"
  step "Test"
  ctest --preset "$preset" -j "$jobs"
  list_skipped "$root/build/$preset/Testing/Temporary/LastTest.log"
}

# ctest counts a program as passed when it skips cases for want of data: say which.
list_skipped() {
  skipped=$(grep -oE '^\[  SKIPPED \] [^ ,]+ \(' "$1" | sed 's/^.*\] //; s/ (//' | sort -u || true)
  [ -n "$skipped" ] || return 0
  printf '\n!!!! SKIPPED for want of data (tests/README.md says where it is looked up):\n%s\n' "$skipped"
}

if [ "$full" = 1 ]; then export EMBERT_FULL=1; fi
build_and_test release
if [ "$full" = 1 ]; then build_and_test debug; fi
