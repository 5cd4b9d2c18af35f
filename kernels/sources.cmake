# SPDX-License-Identifier: Apache-2.0
# The list of the kernels' sources. CMakeLists.txt uses it; whoever builds without CMake takes kernel_sources and
# the list of the processor family. The last word of a file's name is its ISA extension: that file alone is
# compiled with the flags of the extension and -O2 (at -O3 gcc 12 spills the accumulators of a large tile, which
# halves its speed). Cortex-M has no flags here: the toolchain's -mcpu chooses the one instruction set.

# Every processor.
set(kernel_sources
  dispatch.cpp
  scalar/activation_scalar.cpp
  scalar/context_scalar.cpp
  scalar/convert_rows_scalar.cpp
  scalar/crc32c_scalar.cpp
  scalar/dense_scalar.cpp
  scalar/dot_rows_scalar.cpp
  scalar/embedding_scalar.cpp
  scalar/gate_scalar.cpp
  scalar/gemm_scalar.cpp
  scalar/layernorm_scalar.cpp
  scalar/qkv_scalar.cpp
  scalar/quantize_scalar.cpp
  scalar/residual_scalar.cpp
  scalar/rotary_scalar.cpp
  scalar/scores_scalar.cpp
  scalar/softmax_scalar.cpp)

# x86, 32 and 64 bits.
set(kernel_sources_x86
  x86/activation_avx2.cpp
  x86/activation_avx512vnni.cpp
  x86/context_avx2.cpp
  x86/context_avx512vnni.cpp
  x86/convert_rows_avx2.cpp
  x86/convert_rows_avx512vnni.cpp
  x86/crc32c_avx2.cpp
  x86/dense_avx512vnni.cpp
  x86/dot_rows_avx2.cpp
  x86/dot_rows_avx512vnni.cpp
  x86/dot_rows_avxvnni.cpp
  x86/embedding_avx2.cpp
  x86/embedding_avx512vnni.cpp
  x86/gate_avx2.cpp
  x86/gate_avx512vnni.cpp
  x86/gemm_avx2.cpp
  x86/gemm_avx512vnni.cpp
  x86/gemm_avxvnni.cpp
  x86/layernorm_avx2.cpp
  x86/layernorm_avx512vnni.cpp
  x86/qkv_avx2.cpp
  x86/qkv_avx512vnni.cpp
  x86/quantize_avx2.cpp
  x86/quantize_avx512vnni.cpp
  x86/residual_avx2.cpp
  x86/residual_avx512vnni.cpp
  x86/rotary_avx2.cpp
  x86/rotary_avx512vnni.cpp
  x86/scores_avx2.cpp
  x86/scores_avx512vnni.cpp
  x86/softmax_avx2.cpp
  x86/softmax_avx512vnni.cpp)
set(isa_flags_avx2 -mavx2 -msse4.2)
set(isa_flags_avxvnni -mavx2 -mavxvnni)
set(isa_flags_avx512vnni -mavx2 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni)

# x86 with 64 bits alone: the instructions of AMX need them.
set(kernel_sources_x86_64
  ${kernel_sources_x86}
  x86/gemm_amxint8.cpp)
set(isa_flags_amxint8 ${isa_flags_avx512vnni} -mamx-tile -mamx-int8)

# ARMv7 with an operating system. Distributions build for ARMv7 without NEON, so only these files may contain it.
set(kernel_sources_armv7
  arm/activation_neon.cpp
  arm/context_neon.cpp
  arm/convert_rows_neon.cpp
  arm/dot_rows_neon.cpp
  arm/embedding_neon.cpp
  arm/gate_neon.cpp
  arm/gemm_neon.cpp
  arm/layernorm_neon.cpp
  arm/qkv_neon.cpp
  arm/quantize_neon.cpp
  arm/residual_neon.cpp
  arm/rotary_neon.cpp
  arm/scores_neon.cpp
  arm/softmax_neon.cpp)
set(isa_flags_neon_armv7 -mfpu=neon)

# AArch64: the same, and the extensions of ARMv8.2.
set(kernel_sources_aarch64
  ${kernel_sources_armv7}
  arm/crc32c_dotprod.cpp
  arm/dense_dotprod.cpp
  arm/dot_rows_dotprod.cpp
  arm/gemm_dotprod.cpp
  arm/dense_i8mm.cpp
  arm/gemm_i8mm.cpp)
set(isa_flags_neon -march=armv8-a)
set(isa_flags_dotprod -march=armv8.2-a+dotprod+crc)
set(isa_flags_i8mm -march=armv8.2-a+dotprod+i8mm)

# Cortex-M with Helium, such as the M55.
set(kernel_sources_helium
  helium/activation_mve.cpp
  helium/context_mve.cpp
  helium/convert_rows_mve.cpp
  helium/dot_rows_mve.cpp
  helium/embedding_mve.cpp
  helium/gate_mve.cpp
  helium/gemm_mve.cpp
  helium/layernorm_mve.cpp
  helium/qkv_mve.cpp
  helium/quantize_mve.cpp
  helium/residual_mve.cpp
  helium/rotary_mve.cpp
  helium/scores_mve.cpp
  helium/softmax_mve.cpp)

# WebAssembly with vectors of 128 bits. A page loads the code, and -Oz makes it a quarter shorter than -O2.
set(kernel_sources_simd128
  wasm/activation_simd128.cpp
  wasm/context_simd128.cpp
  wasm/convert_rows_simd128.cpp
  wasm/dot_rows_simd128.cpp
  wasm/gate_simd128.cpp
  wasm/gemm_simd128.cpp
  wasm/layernorm_simd128.cpp
  wasm/qkv_simd128.cpp
  wasm/quantize_simd128.cpp
  wasm/residual_simd128.cpp
  wasm/softmax_simd128.cpp)
set(isa_flags_simd128 -Oz)

# Cortex-M with DSP instructions and no vectors, such as the M4 and M7.
set(kernel_sources_dsp
  dsp/activation_dsp.cpp
  dsp/gemm_dsp.cpp
  dsp/layernorm_dsp.cpp
  dsp/residual_dsp.cpp)
