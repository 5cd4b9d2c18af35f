#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copies the header libraries of the tool, CLI11 and nlohmann/json, from this machine's packages to build/headers, for
# zig.cmake: an include path /usr/include would bring the headers of this machine's C library with them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ ! -e build/headers/complete ] || exit 0
rm -rf build/headers
dpkg -L libcli11-dev nlohmann-json3-dev | grep -E '^/usr/(include|share/cmake)/' | while read -r path; do
  [ -d "$path" ] || install -D -m 644 "$path" "build/headers$path"
done
touch build/headers/complete
