// SPDX-License-Identifier: Apache-2.0
// Which processor family this build is for, the instruction-set clusters, and how the left operand
// of a GEMM is stored in it.
#pragma once

#include <stddef.h>
#include <stdint.h>

// EMBERT_X86=0 may be given on x86, too: the scalar kernels with operands as other processors store
// them, so that both halves of the law are tested on one machine.
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

// 32-bit ARM with an operating system: NEON is what most of these have, not all.
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

// The DSP instructions of processors without vectors.
#ifndef EMBERT_DSP
#if defined(__ARM_FEATURE_DSP) && __ARM_ARCH_PROFILE == 'M' && !EMBERT_MVE
#define EMBERT_DSP 1
#else
#define EMBERT_DSP 0
#endif
#endif

namespace embert {

/// Instruction-set clusters, as bits of a mask. Values are pinned: embert.h repeats them.
/// A cluster stands for all the features that its kernels use together.
enum Isa : uint32_t {
  kIsaScalar = 0,
  kIsaAvx2 = 1u << 0,        ///< AVX2, and the SSE4.2 CRC instruction
  kIsaAvxVnni = 1u << 1,     ///< AVX2 and AVX-VNNI (VEX-coded VPDPBUSD)
  kIsaAvx512Vnni = 1u << 2,  ///< AVX-512 F, BW, DQ, VL and VNNI
  kIsaNeon = 1u << 8,        ///< Advanced SIMD of ARMv7 or ARMv8.0
  kIsaDotprod = 1u << 9,     ///< ARMv8.2 with SDOT, and the CRC instructions that ARMv8.1 demands
  kIsaI8mm = 1u << 10,       ///< SMMLA, beside SDOT
  kIsaMve = 1u << 16,        ///< Helium (integer M-profile vector extension)
  kIsaDsp = 1u << 17,        ///< SMLAD and its like of Cortex-M4 and M7
};

/// The left operand of a GEMM is one byte a value. VPDPBUSD multiplies unsigned by signed bytes,
/// while SDOT, SMLAL and VMLADAVA want both signed. So the bytes are stored as the target's
/// multipliers read them: a signed value s as s ^ kSignedLhsFlip, an unsigned value u as u ^
/// kUnsignedLhsFlip, and the GEMM takes the resulting constant offset out again with the column
/// sums of the right operand, which is exact.
enum class LhsType : uint8_t { kSigned, kUnsigned };
static constexpr uint8_t kSignedLhsFlip = EMBERT_X86 ? 0x80 : 0x00;
static constexpr uint8_t kUnsignedLhsFlip = EMBERT_X86 ? 0x00 : 0x80;

/// What a GEMM adds, times the column sum, to undo the flip.
static constexpr int32_t lhs_correction(LhsType type) {
  if (EMBERT_X86) return type == LhsType::kSigned ? -128 : 0;
  return type == LhsType::kSigned ? 0 : 128;
}

}  // namespace embert
