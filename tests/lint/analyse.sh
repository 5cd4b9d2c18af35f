#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests/lint/analyse.sh [BUILD]: clang-tidy and cppcheck over the code that reads what others made, with the
# compile_commands.json of a build (build/release): runtime, device protocol, the one file reader, the writers. Not the
# readers of JSON and the tool: nlohmann/json and CLI11 take clang-tidy 10 seconds a file. Ends with 1 where there is a
# finding.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=${1:-build/release}
jobs=$(nproc)
checked=$(git ls-files 'runtime/*.cpp' 'targets/device/*.cpp' 'converter/files/*.cpp' 'converter/export/*.cpp')
status=0
tidy=$(command -v clang-tidy-14 || command -v clang-tidy) || {
  echo "tests/lint/analyse.sh: clang-tidy is missing (Debian: clang-tidy, and cppcheck)" >&2
  exit 1
}
# shellcheck disable=SC2086
printf '%s\n' $checked | xargs -P "$jobs" -n 2 "$tidy" -p "$build" --quiet --config-file=tests/lint/clang_tidy.yaml 2>/dev/null ||
  status=1

# cppcheck reads no headers of libraries, so it gets the code that has none.
# shellcheck disable=SC2046
cppcheck -j "$jobs" -q --std=c++20 --language=c++ --enable=warning,performance,portability --error-exitcode=1 \
  --suppressions-list=tests/lint/cppcheck_suppressions.txt -I. -Iruntime/include \
  $(git ls-files 'runtime/*.cpp' 'kernels/scalar/*.cpp' kernels/dispatch.cpp 'targets/device/*.cpp') || status=1
echo "$(wc -w <<<"$checked") files by clang-tidy; runtime, scalar kernels and device protocol by cppcheck: status $status"
exit "$status"
