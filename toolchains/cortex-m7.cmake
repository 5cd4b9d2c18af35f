# SPDX-License-Identifier: Apache-2.0
# ARMv7E-M: DSP instructions, two instructions a cycle.
set(CMAKE_SYSTEM_PROCESSOR cortex-m7)
set(EMBERT_BOARD mps2-an500)
set(cpu_flags "-mcpu=cortex-m7 -mfloat-abi=hard")
include(${CMAKE_CURRENT_LIST_DIR}/arm-none-eabi.cmake)
