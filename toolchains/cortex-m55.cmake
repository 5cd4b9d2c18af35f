# SPDX-License-Identifier: Apache-2.0
# ARMv8.1-M with Helium.
set(CMAKE_SYSTEM_PROCESSOR cortex-m55)
set(EMBERT_BOARD mps3-an547)
set(cpu_flags "-mcpu=cortex-m55 -mfloat-abi=hard")
include(${CMAKE_CURRENT_LIST_DIR}/arm-none-eabi.cmake)
