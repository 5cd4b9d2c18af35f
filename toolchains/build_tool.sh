#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the embert tool of this machine, converter included, in build/release. Installs what is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. toolchains/install_packages.sh
# shellcheck disable=SC2086
install_packages $build_packages
# Tests need more packages: tests/run.sh and a plain `cmake --preset release` turn them on.
[ -e build/release/build.ninja ] || cmake --preset release --log-level=WARNING -DEMBERT_TESTS=OFF
cmake --build --preset release --target embert_tool -j "$(nproc)"
