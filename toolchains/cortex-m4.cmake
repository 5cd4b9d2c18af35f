# SPDX-License-Identifier: Apache-2.0
# ARMv7E-M: DSP instructions.
set(CMAKE_SYSTEM_PROCESSOR cortex-m4)
set(EMBERT_BOARD mps2-an386)
set(cpu_flags "-mcpu=cortex-m4 -mfloat-abi=hard")
include(${CMAKE_CURRENT_LIST_DIR}/arm-none-eabi.cmake)
