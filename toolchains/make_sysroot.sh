#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Unpacks the libraries that a cross build links, as the distribution has them for the other architecture, into
# build/sysroot-ARCHITECTURE. The machine's own packages stay as they are: -dev packages of two architectures do not
# go together on one machine. Uses the machine's apt sources with lists of its own; needs no root. Quick the second time.
#   toolchains/make_sysroot.sh arm64|armhf
#   toolchains/make_sysroot.sh arm64|armhf python, or arm64|armhf|amd64 musl
# The last two are to run Python wheels, not to link: build/python-ARCHITECTURE has Python and numpy, build/musl-ARCHITECTURE
# the C library musl.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
architecture=${1:-}
case "$architecture ${2:-link}" in
  # With the libraries of the compiler it is all that a program needs to run in the emulator.
  "arm64 link" | "armhf link")
    packages="libpthreadpool-dev libcli11-dev nlohmann-json3-dev libc6 libstdc++6 libubsan1"
    [ "$architecture" = armhf ] || packages+=" libcpuinfo-dev libxnnpack-dev" # of the converter
    ;;
  "arm64 python" | "armhf python") packages="python3 python3-numpy libc6" ;;
  "arm64 musl" | "armhf musl" | "amd64 musl") packages="musl" ;;
  *) echo "Usage: toolchains/make_sysroot.sh arm64|armhf, arm64|armhf python, or arm64|armhf|amd64 musl" >&2; exit 1 ;;
esac
sysroot=$root/build/${2:-sysroot}-$architecture

if [ "$(cat "$sysroot/complete" 2>/dev/null)" = "$packages" ]; then exit 0; fi
rm -rf "$sysroot"
mkdir -p "$sysroot"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial"
touch "$work/status" # as if nothing was installed, so that apt takes what the packages need, too

apt() {
  apt-get -q -o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture" -o APT::Sandbox::User= \
    -o "Dir::State=$work/state" -o "Dir::State::status=$work/status" -o "Dir::Cache=$work/cache" \
    -o Acquire::Retries=3 "$@" </dev/null >"$work/log" 2>&1
}
# A list that can not be had matters only where a package is missing for it.
apt update || true
# shellcheck disable=SC2086
if ! apt install --download-only -y --no-install-recommends $packages; then
  grep '^E:' "$work/log" >&2 || true
  echo "The packages of $architecture can not be had from this machine's apt sources: $packages" >&2
  without="-DEMBERT_HOST_LIBRARIES=OFF -DEMBERT_TOOL=OFF -DEMBERT_TESTS=OFF"
  echo "The library alone does without: cmake --preset ... $without" >&2
  exit 1
fi
for package in "$work"/cache/archives/*.deb; do dpkg-deb -x "$package" "$sysroot"; done
[ -e "$sysroot/lib" ] || ln -s usr/lib "$sysroot/lib" # newer releases have the one in the other
echo "$packages" >"$sysroot/complete"
echo "${sysroot#"$root"/}: $(find "$work/cache/archives" -name '*.deb' | wc -l) packages"
