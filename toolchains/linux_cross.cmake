# SPDX-License-Identifier: Apache-2.0
# Shared by the toolchain files for Linux. Before it: `triple` of the distribution's cross compiler, and
# `debian_architecture`, which names the sysroot that make_sysroot.sh unpacks for it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${triple}-gcc)
set(CMAKE_CXX_COMPILER ${triple}-g++)
set(CMAKE_LIBRARY_ARCHITECTURE ${triple})

# Compiler and C library are the cross packages', everything else is the sysroot's.
get_filename_component(sysroot ${CMAKE_CURRENT_LIST_DIR}/../build/sysroot-${debian_architecture} ABSOLUTE)
list(APPEND CMAKE_FIND_ROOT_PATH ${sysroot})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# QEMU_CPU in the environment chooses the processor: QEMU_CPU=cortex-a53 ctest --preset aarch64
set(CMAKE_CROSSCOMPILING_EMULATOR ${emulator} -L ${sysroot})
