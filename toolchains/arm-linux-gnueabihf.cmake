# SPDX-License-Identifier: Apache-2.0
# Linux on 32-bit ARM (ARMv7-A), for what distributions ask of a processor, which is less than NEON: the kernels
# that need it are compiled with flags of their own.
set(CMAKE_SYSTEM_PROCESSOR armv7)
set(triple arm-linux-gnueabihf)
set(debian_architecture armhf)
set(emulator qemu-arm)
set(CMAKE_C_FLAGS_INIT "-march=armv7-a+fp -mfloat-abi=hard")
set(CMAKE_CXX_FLAGS_INIT "${CMAKE_C_FLAGS_INIT} -Wno-psabi") # notes of what changed in gcc 7
include(${CMAKE_CURRENT_LIST_DIR}/linux_cross.cmake)
