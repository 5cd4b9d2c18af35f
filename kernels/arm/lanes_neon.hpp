// SPDX-License-Identifier: Apache-2.0
// Shared by the operations: 4 lanes of 32 bits. SQRDMULH is QMUL of fixed_point.hpp: (2 a b + 2^31)
// >> 32. It saturates only where both are -2^31, which QMUL excludes. SRSHL by a negative count is
// RS; its inner sum is wider than a lane.
#pragma once

#if !defined(__ARM_NEON)
#error "this file needs the flags of neon (kernels/sources.cmake)"
#endif
#include <arm_neon.h>
#include <string.h>

#include "kernels/arithmetic/fixed_point.hpp"
#include "kernels/processor.hpp"

#define EMBERT_INLINE static inline __attribute__((always_inline))
#if EMBERT_ARMV7
#include "kernels/arm/lanes_armv7.hpp"
#endif

namespace embert {
namespace {

/// The shift of a tensor as a count for SRSHL and SQSHL: left if positive.
EMBERT_INLINE int32x4_t shift_count(const Requantize& factor) {
  return vdupq_n_s32(factor.left - factor.right);
}

/// requantize() of fixed_point.hpp. Neither kRight nor kLeft: the tensor has no shift.
template <bool kRight, bool kLeft = !kRight>
EMBERT_INLINE int32x4_t requantize(int32x4_t x, int32x4_t multiplier, int32x4_t count) {
  if (kRight) return vrshlq_s32(vqrdmulhq_s32(x, multiplier), count);
  return vqrdmulhq_s32(kLeft ? vqshlq_s32(x, count) : x, multiplier);
}

/// requantize() of 16 columns, saturated to 16 bits.
template <bool kRight, bool kLeft = !kRight>
EMBERT_INLINE int16x8x2_t requantize16(const int32_t* acc, const int32x4x4_t& m, int32x4_t count) {
  const int32x4x4_t x = vld1q_s32_x4(acc);
  int16x8x2_t y;
  y.val[0] = vqmovn_high_s32(vqmovn_s32(requantize<kRight, kLeft>(x.val[0], m.val[0], count)),
                             requantize<kRight, kLeft>(x.val[1], m.val[1], count));
  y.val[1] = vqmovn_high_s32(vqmovn_s32(requantize<kRight, kLeft>(x.val[2], m.val[2], count)),
                             requantize<kRight, kLeft>(x.val[3], m.val[3], count));
  return y;
}

/// 16 values to bytes in +-127.
EMBERT_INLINE int8x16_t to_bytes(int16x8x2_t x) {
  const int8x16_t bytes = vqmovn_high_s16(vqmovn_s16(x.val[0]), x.val[1]);
  return vmaxq_s8(bytes, vdupq_n_s8(-127));
}

/// Moves p by n values. The empty asm keeps gcc 12 from computing the addresses of later loads from
/// that of the first: each load is post-indexed and needs no ADD.
template <typename T>
EMBERT_INLINE void advance(const T*& p, size_t n) {
  p += n;
  asm("" : "+r"(p));
}

/// Loads 16 sums and moves p behind them.
EMBERT_INLINE int32x4x4_t next16(const int32_t*& p) {
  const int32x4x4_t x = vld1q_s32_x4(p);
  advance(p, 16);
  return x;
}

/// Stores 16 values with one STP. ST1 of a list would first have to move the values to consecutive
/// registers.
EMBERT_INLINE void store16(int16_t* dst, const int16x8x2_t& x) {
  vst1q_s16(dst, x.val[0]);
  vst1q_s16(dst + 8, x.val[1]);
}

#if EMBERT_AARCH64
/// A table of 64 bytes. An index beyond it gives 0, or the byte of otherwise.
using ByteTable = uint8x16x4_t;
EMBERT_INLINE ByteTable load_table(const uint8_t* p) { return vld1q_u8_x4(p); }
EMBERT_INLINE uint8x16_t look_up(const ByteTable& table, uint8x16_t i) {
  return vqtbl4q_u8(table, i);
}
EMBERT_INLINE uint8x16_t look_up(const ByteTable& table, uint8x16_t i, uint8x16_t otherwise) {
  return vqtbx4q_u8(otherwise, table, i);
}
#endif

/// Stores the first values of 16: for tails.
EMBERT_INLINE void store_first(int16_t* dst, const int16x8x2_t& x, size_t count) {
  int16_t copy[16];
  store16(copy, x);
  memcpy(dst, copy, count * sizeof(int16_t));
}

/// Stores the first bytes of 16: for tails.
EMBERT_INLINE void store_first(void* dst, uint8x16_t x, size_t bytes) {
  uint8_t copy[16];
  vst1q_u8(copy, x);
  memcpy(dst, copy, bytes);
}
}  // namespace
}  // namespace embert
