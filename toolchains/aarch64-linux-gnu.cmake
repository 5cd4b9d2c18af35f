# SPDX-License-Identifier: Apache-2.0
# Linux on 64-bit ARM: Raspberry Pi 3 to 5 and the like.
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(triple aarch64-linux-gnu)
set(debian_architecture arm64)
set(emulator qemu-aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/linux_cross.cmake)
