# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts that set up a Debian machine: source it, then install_packages NAME...
# Quick when everything is there (no package list is fetched). Installs as root or with sudo, asks nothing.
# A package that cannot be had ends in one clear line and status 1; without apt it says what to install.

build_packages="cmake ninja-build g++ pkg-config python3 libcpuinfo-dev libpthreadpool-dev libcli11-dev \
nlohmann-json3-dev libxnnpack-dev libcpp-httplib-dev"
test_packages="libgtest-dev binutils clang-format strace"
cortex_m_packages="gcc-arm-none-eabi libstdc++-arm-none-eabi-newlib qemu-system-arm"
cross_packages="$cortex_m_packages g++-aarch64-linux-gnu g++-arm-linux-gnueabihf qemu-user googletest"
wasm_packages="wasi-libc libc++-14-dev-wasm32 libc++abi-14-dev-wasm32 libclang-rt-14-dev-wasm32 node-typescript"
python_packages="python3-venv qemu-user default-jre-headless" # Java: Spark
ci_packages="clang libclang-rt-dev clang-tidy cppcheck lld qemu-user libbenchmark-dev libsimde-dev python3-venv ca-certificates"

is_installed() {
  # A line for each architecture that it is known for.
  dpkg-query -W -f='${db:Status-Status}\n' "$1" 2>/dev/null | grep -x installed >/dev/null
}

install_packages() {
  missing_packages=""
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "This is not Debian or Ubuntu: install the equivalents of: $*" >&2
    return 0
  fi
  for package in "$@"; do
    is_installed "$package" || missing_packages="$missing_packages $package"
  done
  [ -n "$missing_packages" ] || return 0

  as_root=""
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "Missing packages, and neither root nor sudo to install them. As root: apt-get install$missing_packages" >&2
      return 1
    fi
    as_root="sudo"
  fi
  echo "Installing$missing_packages"
  apt_log=$(mktemp)
  if ! apt_step update || ! apt_step install -y --no-install-recommends $missing_packages; then
    # One by one, so that the message names the package and not the whole list.
    for package in $missing_packages; do
      is_installed "$package" || apt_step install -y --no-install-recommends "$package" ||
        echo "The package $package cannot be installed: $(grep -m1 '^E:' "$apt_log" || tail -n 1 "$apt_log")" >&2
    done
  fi
  rm -f "$apt_log"
  for package in $missing_packages; do
    is_installed "$package" || {
      echo "The package $package is not installed" >&2
      return 1
    }
  done
}

apt_step() {
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q "$@" </dev/null >"$apt_log" 2>&1
}
