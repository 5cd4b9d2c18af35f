#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds and runs all tests. See --help.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

usage() {
  cat <<'HELP'
Usage: tests/run.sh [--full] [--werror] [--target NAME]... [--python | --python-full]

Installs what is missing (apt, as root or with sudo), builds embert in build/release and runs all tests with ctest.
The second time it only builds what changed.

  --full         full vectors and corpora instead of samples (EMBERT_FULL=1), and all tests once more built with -O0
  --werror       compiler warnings are errors
  --target NAME  for another processor, under an emulator: aarch64, armv7, cortex-m55, cortex-m7, cortex-m4, cortex-m33.
                 Of long suites one case of each kind runs
  --python       the Python package instead: builds its wheel in build/release, installs it with numpy, pytest, mypy and
                 tokenizers in an environment (build/python-test) and runs the core tests of tests/targets/python
  --python-full  the same with the adapters, Ray and Spark, whose packages it installs (gigabytes); builds the portable wheels
                 and runs them on emulated processors
  --help         this text

Examples:
  ./tests/run.sh
  ./tests/run.sh --python
  ./tests/run.sh --target aarch64 --target cortex-m55
HELP
}

full=0
werror=OFF
targets=""
python=""
while [ $# -gt 0 ]; do
  case "$1" in
    --full) full=1 ;;
    --werror) werror=ON ;;
    --target)
      case "${2:-}" in
        aarch64 | armv7 | cortex-m55 | cortex-m7 | cortex-m4 | cortex-m33) targets="$targets $2" ;;
        *) echo "tests/run.sh: --target: no such target: ${2:-}" >&2; usage >&2; exit 1 ;;
      esac
      shift ;;
    --python) python=${python:-core} ;;
    --python-full) python=full ;;
    -h | --help) usage; exit 0 ;;
    *) echo "tests/run.sh: unknown option $1" >&2; usage >&2; exit 1 ;;
  esac
  shift
done

step() { printf '\n== %s\n' "$*"; }

step "Packages"
. "$root/toolchains/install_packages.sh"
[ "$python" = full ] || python_packages=""
# shellcheck disable=SC2086
install_packages $build_packages $test_packages ${targets:+$cross_packages} ${python:+python3-venv} $python_packages
install_packages libsimde-dev || echo "!!!! No kernels are emulated"
echo "all there"

jobs=$(nproc)

# build_and_test PRESET [CMAKE_OPTION...]
build_and_test() {
  preset=$1
  shift
  cd "$root"
  step "Configure build/$preset"
  cmake --preset "$preset" --log-level=WARNING -DEMBERT_TESTS=ON -DEMBERT_WERROR="$werror" "$@"
  step "Build with $jobs jobs"
  cmake --build --preset "$preset" -j "$jobs"
  step "Test"
  local status=0
  ctest --preset "$preset" -j "$jobs" || status=$?
  list_skipped "build/$preset/Testing/Temporary/LastTest.log"
  list_kernels "build/$preset/Testing/Temporary/LastTest.log"
  return $status
}

# list_skipped LOG: ctest counts a program as passed when it skips cases, so this names them, with the reason; the cases of
# one parametrised test in one line.
list_skipped() {
  local skipped
  skipped=$(awk '
    / Test: / { program = $3 }
    /^\[ RUN      \]/ { reason = "" }
    /(NOT TESTED|SKIPPED): / { reason = $0; sub(/^.*(NOT TESTED|SKIPPED): /, "", reason) }
    /^\[  NOTICE  \] NOT TESTED: / { print program ": " reason }
    /^\[  SKIPPED \] [^ ]+: / { print program ": " substr($0, 14) }
    /^\[  SKIPPED \] .* \([0-9]+ ms\)$/ {
      name = $4
      if (sub(/\/[^\/]*$/, "/...", name) == 0 || cases[name]++ == 0) print program ": " name ": " reason
    }
    /^Skip regular expression found/ { print program ": " reason }
  ' "$1" | sort -u)
  [ -n "$skipped" ] || return 0
  printf '\n!!!! SKIPPED (tests/README.md says where data is looked up):\n%s\n' "$skipped"
}

# list_kernels LOG: how the kernels of each ISA extension ran (tests/kernels/kernel_variants.hpp prints it), and which did not.
list_kernels() {
  local native emulated name rest=""
  native=$(sed -n 's/^\[ KERNELS  \] native: //p' "$1" | head -n 1)
  emulated=$(sed -n 's/^\[ KERNELS  \] emulated: //p' "$1" | head -n 1)
  for name in $(sed -n 's/^    {kIsa.*"\(.*\)",.*/\1/p' "$root/kernels/processor.hpp"); do
    case " $native $emulated " in *" $name "*) ;; *) rest="$rest $name" ;; esac
  done
  printf '\nKernels. native: %s; emulated: %s; not at all:%s\n' "$native" "${emulated:-none}" "${rest:- none}"
}

if [ "$full" = 1 ]; then export EMBERT_FULL=1; fi
# Builds without converter test the reference models on blobs of this machine's converter.
make_golden_blobs() {
  [ -e "$root/../shared/reference" ] || return 0
  cd "$root"
  step "Reference models, with this machine's converter"
  cmake --preset release --log-level=WARNING -DEMBERT_TESTS=ON
  cmake --build --preset release --target golden_test -j "$jobs"
  build/release/tests/golden/golden_test --gtest_filter='*.SelftestPasses/*' --gtest_brief=1
}

# build/release as it was before the wheel, whose folders are gone.
leave_wheel() {
  cmake --preset release --log-level=WARNING -DEMBERT_PYTHON=OFF -U "SKBUILD*" -U CMAKE_INSTALL_PREFIX -U CMAKE_PREFIX_PATH
}
# The wheel is built where the tool is, as it holds the same objects: what is there is not compiled again.
test_python() {
  cd "$root"
  environment=build/python-test
  step "Python wheel"
  cmake --preset release --log-level=WARNING -DEMBERT_TESTS=ON -DEMBERT_WERROR="$werror"
  [ -x $environment/bin/python ] || python3 -m venv $environment
  $environment/bin/python -m pip -q install "scikit-build-core==1.*" numpy "pytest==9.*" "mypy==2.*" tokenizers
  rm -rf $environment/wheel
  trap leave_wheel EXIT
  $environment/bin/python -m pip -q wheel --no-deps --no-build-isolation -w $environment/wheel \
    --config-settings "build-dir=$root/build/release" --config-settings cmake.define.EMBERT_TESTS=ON \
    --config-settings cmake.define.EMBERT_SERVE=ON ./targets/python
  trap - EXIT
  leave_wheel
  $environment/bin/python -m pip -q install --no-deps --force-reinstall $environment/wheel/*.whl
  ls -l $environment/wheel
}
test_python_full() {
  step "Portable wheels"
  "$root/targets/python/build_wheels.sh" portable
  for architecture in arm64 armhf; do "$root/toolchains/make_sysroot.sh" $architecture python; done
  for architecture in arm64 armhf amd64; do "$root/toolchains/make_sysroot.sh" $architecture musl; done
  step "Packages of adapters, Ray and Spark"
  $environment/bin/python -m pip -q install -r "$root/tests/targets/python/requirements.txt"
}

case "$targets" in *aarch64* | *armv7*) make_golden_blobs ;; esac
for target in $targets; do
  case "$target" in
    aarch64) "$root/toolchains/make_sysroot.sh" arm64 ;;
    armv7) "$root/toolchains/make_sysroot.sh" armhf ;;
  esac
  build_and_test "$target" -DEMBERT_CONVERTER=OFF
done
if [ -n "$python" ]; then
  test_python
  python_tests="$(echo tests/targets/python/test_*.py)"
  if [ "$python" = full ]; then
    test_python_full
    python_tests=tests/targets/python
    export EMBERT_FULL=1
  fi
  step "Test"
  # shellcheck disable=SC2086
  $environment/bin/python -m pytest -q -rs $python_tests
fi
[ -z "$targets$python" ] || exit 0
build_and_test release
if [ "$full" = 1 ]; then build_and_test debug; fi
