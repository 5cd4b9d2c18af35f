// SPDX-License-Identifier: Apache-2.0
// Shared by the operations: 16 lanes of 32 bits. requantize() of fixed_point.hpp is two products of
// 32 x 32 -> 64 bits, each with one rounding constant and one shift. Two floors in a row are one
// floor, so both roundings of
//   RS(RS(x * m, 31), r) = (x * m + 2^30 + 2^(30 + r)) >> (31 + r)
// are one addition. A left shift only moves the binary point:
//   RS((x << l) * m, 31) = (x * m + 2^(30 - l)) >> (31 - l).
#pragma once

#include <immintrin.h>

#include "kernels/arithmetic/fixed_point.hpp"

namespace embert {
namespace {

#define EMBERT_INLINE static inline __attribute__((always_inline))

/// Masks of the first left lanes, at most 16, 32 or 64.
EMBERT_INLINE __mmask16 mask16(size_t left) {
  return static_cast<__mmask16>(left >= 16 ? 0xffffu : (1u << left) - 1);
}
EMBERT_INLINE __mmask32 mask32(size_t left) {
  return left >= 32 ? ~__mmask32{0} : (1u << left) - 1;
}
EMBERT_INLINE __mmask64 mask64(size_t left) {
  return left >= 64 ? ~__mmask64{0} : (__mmask64{1} << left) - 1;
}

/// Copies each odd lane to the even one below it, where VPMULDQ reads it.
EMBERT_INLINE __m512i odd_lanes(__m512i x) {
  return _mm512_castps_si512(_mm512_movehdup_ps(_mm512_castsi512_ps(x)));
}

/// Restores the order of columns after a pack of two vectors.
EMBERT_INLINE __m512i unpack_order(__m512i x) {
  return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), x);
}

/// The constants of one pair of shifts.
struct Shifts512 {
  __m512i round;            // 64-bit lanes
  __m512i even, odd;        // counts: 64-bit lanes for left shifts, 32-bit lanes for right ones
  __m512i lowest, highest;  // of x, 32-bit lanes
};
template <bool kRight>
EMBERT_INLINE Shifts512 make_shifts(const Requantize& factor) {
  Shifts512 s;
  const int32_t left = factor.left, right = factor.right;
  s.lowest = _mm512_set1_epi32(static_cast<int32_t>(INT32_MIN / (1 << left)));
  s.highest = _mm512_set1_epi32(left == 0 ? INT32_MAX : 1 << (31 - left));
  if (kRight) {
    s.round = _mm512_set1_epi64((int64_t{1} << 30) + (int64_t{1} << (30 + right)));
    s.even = s.odd = _mm512_set1_epi32(right - 1);
  } else {
    s.round = _mm512_set1_epi64(int64_t{1} << (30 - left));
    s.even = _mm512_set1_epi64(31 - left);
    s.odd = _mm512_set1_epi64(1 + left);
  }
  return s;
}

/// The multipliers of 16 columns as both products read them.
struct Multipliers512 {
  __m512i even, odd;
};
EMBERT_INLINE Multipliers512 load_multipliers(const int32_t* multiplier) {
  const __m512i m = _mm512_loadu_si512(multiplier);
  return {m, odd_lanes(m)};
}

/// requantize() without the saturating left shift. even and odd columns are the lower halves of
/// 64-bit lanes.
template <bool kRight>
EMBERT_INLINE __m512i requantize_lanes(__m512i even, __m512i odd, const Multipliers512& m,
                                       const Shifts512& s) {
  even = _mm512_add_epi64(_mm512_mul_epi32(even, m.even), s.round);
  odd = _mm512_add_epi64(_mm512_mul_epi32(odd, m.odd), s.round);
  if (kRight) {  // the result starts in or above the upper half
    const __m512i upper = _mm512_castps_si512(
        _mm512_mask_movehdup_ps(_mm512_castsi512_ps(odd), 0x5555, _mm512_castsi512_ps(even)));
    return _mm512_srav_epi32(upper, s.even);
  }
  return _mm512_mask_blend_epi32(0xaaaa, _mm512_srlv_epi64(even, s.even),
                                 _mm512_sllv_epi64(odd, s.odd));
}

/// requantize() for a caller that clamps the result to less than 2^30 - 1. The saturating left
/// shift gives 2^31 here instead of 2^31 - 1: for |m| <= 2^30 the result is the same, otherwise
/// both results are beyond the clamp.
template <bool kRight>
EMBERT_INLINE __m512i requantize(__m512i x, const Multipliers512& m, const Shifts512& s) {
  if (!kRight) x = _mm512_max_epi32(_mm512_min_epi32(x, s.highest), s.lowest);
  return requantize_lanes<kRight>(x, odd_lanes(x), m, s);
}

}  // namespace
}  // namespace embert
