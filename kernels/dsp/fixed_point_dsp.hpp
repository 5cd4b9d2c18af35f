// SPDX-License-Identifier: Apache-2.0
// Formulas of fixed_point.hpp in the fewest instructions. A right shift leaves the last bit that it
// drops in the carry, and rounding adds that bit: two instructions.
#pragma once

#if !defined(__ARM_FEATURE_DSP)
#error "this file needs a processor with DSP instructions (kernels/sources.cmake)"
#endif
#include "kernels/arithmetic/fixed_point.hpp"

namespace embert {
namespace {

#define EMBERT_INLINE static inline __attribute__((always_inline))

/// RS(x, k), k in 1..31.
EMBERT_INLINE int32_t round_right(int32_t x, int32_t k) {
  asm("asrs %0, %0, %1\n\tadc %0, %0, #0" : "+r"(x) : "r"(k) : "cc");
  return x;
}

/// QMUL(a, m): the upper word of twice the product plus its rounding.
EMBERT_INLINE int32_t multiply_round(int32_t a, int32_t m) {
  int32_t low = 1 << 30, high = 0;
  asm("smlal %0, %1, %2, %3\n\tadds %0, %0, %0\n\tadc %1, %1, %1"
      : "+r"(low), "+r"(high)
      : "r"(a), "r"(m)
      : "cc");
  return high;
}

/// QMUL(16-bit x * 2^15, m).
EMBERT_INLINE int32_t multiply_round_s16(int32_t x, int32_t m) {
  int32_t product;
  asm("smmulr %0, %1, %2" : "=r"(product) : "r"(x * 65536), "r"(m));
  return product;
}

/// sat16(x), and x clamped to 0..32767.
EMBERT_INLINE int16_t saturate_s16(int32_t x) {
  asm("ssat %0, #16, %0" : "+r"(x));
  return static_cast<int16_t>(x);
}
EMBERT_INLINE uint16_t saturate_u15(int32_t x) {
  asm("usat %0, #15, %0" : "+r"(x));
  return static_cast<uint16_t>(x);
}

/// requantize(). kRight: the right shift is not 0, so the left one is 0.
template <bool kRight>
EMBERT_INLINE int32_t scale_round(int32_t x, int32_t multiplier, const Requantize& factor) {
  if (kRight) return round_right(multiply_round(x, multiplier), factor.right);
  return multiply_round(shift_left_s32(x, factor.left), multiplier);
}

}  // namespace
}  // namespace embert
