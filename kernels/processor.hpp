// SPDX-License-Identifier: Apache-2.0
// The processor family that this build is for, and the ISA extensions of all families.
#pragma once

#include <stddef.h>
#include <stdint.h>

// -DEMBERT_X86=0 on x86 builds the scalar kernels with operands as other processors store them
// (layout.hpp), so that one machine tests both ways.
#ifndef EMBERT_X86
#if defined(__x86_64__) || defined(__i386__)
#define EMBERT_X86 1
#else
#define EMBERT_X86 0
#endif
#endif

#ifndef EMBERT_AARCH64
#if defined(__aarch64__)
#define EMBERT_AARCH64 1
#else
#define EMBERT_AARCH64 0
#endif
#endif

// 32-bit ARM with an operating system. Most of these processors have NEON, but not all.
#ifndef EMBERT_ARMV7
#if defined(__arm__) && __ARM_ARCH >= 7 && __ARM_ARCH_PROFILE == 'A'
#define EMBERT_ARMV7 1
#else
#define EMBERT_ARMV7 0
#endif
#endif

#ifndef EMBERT_MVE
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
#define EMBERT_MVE 1
#else
#define EMBERT_MVE 0
#endif
#endif

// The DSP instructions of Cortex-M processors without vectors.
#ifndef EMBERT_DSP
#if defined(__ARM_FEATURE_DSP) && __ARM_ARCH_PROFILE == 'M' && !EMBERT_MVE
#define EMBERT_DSP 1
#else
#define EMBERT_DSP 0
#endif
#endif

// WebAssembly's vectors of 128 bits. A build of the module has them or not; the page's loader asks
// the browser which one it can run.
#ifndef EMBERT_SIMD128
#if defined(__wasm_simd128__)
#define EMBERT_SIMD128 1
#else
#define EMBERT_SIMD128 0
#endif
#endif

namespace embert {

/// ISA extensions that kernels are written for, as bits of a mask; embert.h repeats the values. A
/// bit stands for all features that its kernels use together. In a processor family, a higher bit
/// is a faster extension.
enum Isa : uint32_t {
  kIsaScalar = 0,
  kIsaAvx2 = 1u << 0,        ///< AVX2, and the SSE4.2 CRC instruction
  kIsaAvxVnni = 1u << 1,     ///< AVX2 and AVX-VNNI (VEX-coded VPDPBUSD)
  kIsaAvx512Vnni = 1u << 2,  ///< AVX-512 F, BW, DQ, VL and VNNI
  /// AVX512-VNNI of a processor with more vector pipes than its byte products use.
  kIsaAvx512FreePipes = 1u << 3 | kIsaAvx512Vnni,
  kIsaAmxInt8 = 1u << 4,   ///< AMX with products of bytes, beside AVX512-VNNI
  kIsaNeon = 1u << 8,      ///< Advanced SIMD of ARMv7 or ARMv8.0
  kIsaDotprod = 1u << 9,   ///< ARMv8.2 with SDOT, and the CRC instructions that ARMv8.1 demands
  kIsaI8mm = 1u << 10,     ///< SMMLA, beside SDOT
  kIsaMve = 1u << 16,      ///< Helium (integer M-profile vector extension)
  kIsaDsp = 1u << 17,      ///< SMLAD and its like of Cortex-M4 and M7
  kIsaSimd128 = 1u << 24,  ///< fixed-width SIMD of WebAssembly
};

/// The one list of ISA extensions, in the order of their bits. The name is the last word of kernels
/// and of their files; base holds the extensions that every processor with this one has as well.
struct IsaExtension {
  Isa isa;
  char name[12];
  uint32_t base;
};
static constexpr IsaExtension kIsaExtensions[] = {
    {kIsaAvx2, "avx2", 0},
    {kIsaAvxVnni, "avxvnni", kIsaAvx2},
    {kIsaAvx512Vnni, "avx512vnni", kIsaAvx2},
    {kIsaAmxInt8, "amxint8", kIsaAvx2 | kIsaAvx512Vnni},
    {kIsaNeon, "neon", 0},
    {kIsaDotprod, "dotprod", kIsaNeon},
    {kIsaI8mm, "i8mm", kIsaNeon | kIsaDotprod},
    {kIsaMve, "mve", 0},
    {kIsaDsp, "dsp", 0},
    {kIsaSimd128, "simd128", 0},
};

}  // namespace embert
