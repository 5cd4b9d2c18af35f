# SPDX-License-Identifier: Apache-2.0
# Variant sources and the compiler flags of their cluster, by the last word of the file name. A variant file is
# the only place compiled with its flags, and all that it includes has internal linkage, so that no such code
# can be picked by the linker for the baseline.
set(isa_flags_avx2 -mavx2 -msse4.2)
set(isa_flags_avxvnni -mavx2 -mavxvnni)
set(isa_flags_avx512vnni -mavx2 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc 12 warns of the undefined pass-through operands inside its own intrinsics (GCC bug 105593).
  list(APPEND isa_flags_avx512vnni -Wno-uninitialized -Wno-maybe-uninitialized)
endif()
set(isa_flags_neon -march=armv8-a)
set(isa_flags_dotprod -march=armv8.2-a+dotprod+crc)
set(isa_flags_i8mm -march=armv8.2-a+dotprod+i8mm)

# What these compilers are for, as kernels/processor.hpp asks: a 32-bit system may run on a 64-bit processor, and
# Cortex-M has one instruction set for everything, which the toolchain's flags choose.
include(CheckCXXSourceCompiles)
check_cxx_source_compiles(
  "#if !defined(__arm__) || __ARM_ARCH < 7 || __ARM_ARCH_PROFILE != 'A'\n#error\n#endif\nint main() { return 0; }"
  EMBERT_HAS_ARMV7)
check_cxx_source_compiles("#if !(__ARM_FEATURE_MVE & 1)\n#error\n#endif\nint main() { return 0; }" EMBERT_HAS_MVE)
check_cxx_source_compiles(
  "#if !__ARM_FEATURE_DSP || __ARM_ARCH_PROFILE != 'M'\n#error\n#endif\nint main() { return 0; }" EMBERT_HAS_DSP)
if(EMBERT_HAS_ARMV7)
  set(isa_flags_neon -mfpu=neon)
endif()

set(neon_sources
  arm/activation_neon.cpp
  arm/scores_neon.cpp
  arm/dot_rows_neon.cpp
  arm/embedding_neon.cpp
  arm/gemm_neon.cpp
  arm/qkv_neon.cpp
  arm/layernorm_neon.cpp
  arm/quantize_neon.cpp
  arm/requantize_neon.cpp
  arm/residual_neon.cpp
  arm/softmax_neon.cpp)

set(variant_sources)
if(NOT EMBERT_GENERIC AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|i[3-6]86)$")
  list(APPEND variant_sources
    x86/activation_avx2.cpp
    x86/activation_avx512vnni.cpp
    x86/scores_avx2.cpp
    x86/scores_avx512vnni.cpp
    x86/crc32c_avx2.cpp
    x86/dot_rows_avx2.cpp
    x86/dot_rows_avx512vnni.cpp
    x86/dot_rows_avxvnni.cpp
    x86/embedding_avx2.cpp
    x86/embedding_avx512vnni.cpp
    x86/gemm_avx2.cpp
    x86/gemm_avx512vnni.cpp
    x86/gemm_avxvnni.cpp
    x86/qkv_avx2.cpp
    x86/qkv_avx512vnni.cpp
    x86/layernorm_avx2.cpp
    x86/layernorm_avx512vnni.cpp
    x86/quantize_avx2.cpp
    x86/quantize_avx512vnni.cpp
    x86/requantize_avx2.cpp
    x86/requantize_avx512vnni.cpp
    x86/residual_avx2.cpp
    x86/residual_avx512vnni.cpp
    x86/softmax_avx2.cpp
    x86/softmax_avx512vnni.cpp)
elseif(NOT EMBERT_GENERIC AND EMBERT_HAS_ARMV7)
  list(APPEND variant_sources ${neon_sources})
elseif(NOT EMBERT_GENERIC AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|ARM64)$")
  list(APPEND variant_sources
    arm/crc32c_dotprod.cpp
    arm/dot_rows_dotprod.cpp
    arm/gemm_dotprod.cpp
    arm/gemm_i8mm.cpp
    ${neon_sources})
elseif(EMBERT_HAS_MVE)
  list(APPEND variant_sources
    helium/activation_mve.cpp
    helium/scores_mve.cpp
    helium/dot_rows_mve.cpp
    helium/embedding_mve.cpp
    helium/gemm_mve.cpp
    helium/qkv_mve.cpp
    helium/layernorm_mve.cpp
    helium/quantize_mve.cpp
    helium/requantize_mve.cpp
    helium/softmax_mve.cpp)
elseif(EMBERT_HAS_DSP)
  list(APPEND variant_sources
    dsp/gemm_dsp.cpp
    dsp/layernorm_dsp.cpp
    dsp/requantize_dsp.cpp)
endif()

foreach(source IN LISTS variant_sources)
  string(REGEX MATCH "_([a-z0-9]+)\\.cpp$" _ "${source}")
  # gcc 12 spills the accumulators of a large tile at -O3 and halves its speed; -O2 does not.
  set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${isa_flags_${CMAKE_MATCH_1}};-O2")
endforeach()
