# SPDX-License-Identifier: Apache-2.0
# ARMv8-M without DSP instructions and without a float unit.
set(CMAKE_SYSTEM_PROCESSOR cortex-m33)
set(EMBERT_BOARD mps2-an505)
set(cpu_flags "-mcpu=cortex-m33+nodsp+nofp -mfloat-abi=soft")
include(${CMAKE_CURRENT_LIST_DIR}/arm-none-eabi.cmake)
