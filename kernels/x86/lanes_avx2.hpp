// SPDX-License-Identifier: Apache-2.0
// Shared by the operations: 8 lanes of 32 bits. requantize() of fixed_point.hpp takes one addition
// and one shift; lanes_avx512.hpp explains why that is exact. AVX2 has no arithmetic 64-bit shift.
// For right shifts the result lies in the upper half of the 64-bit sum, and a 32-bit shift finishes
// it; for left shifts a logical 64-bit shift serves, because it keeps all 32 bits of the result.
#pragma once

#include <immintrin.h>
#include <string.h>

#include "kernels/arithmetic/fixed_point.hpp"

namespace embert {
namespace {

#define EMBERT_INLINE static inline __attribute__((always_inline))

EMBERT_INLINE __m256i load(const void* p) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(p));
}
EMBERT_INLINE void store(void* p, __m256i x) { _mm256_storeu_si256(static_cast<__m256i*>(p), x); }

/// Copies each odd lane to the even one below it, where VPMULDQ reads it.
EMBERT_INLINE __m256i odd_lanes(__m256i x) {
  return _mm256_castps_si256(_mm256_movehdup_ps(_mm256_castsi256_ps(x)));
}
/// The upper halves of both products, in column order.
EMBERT_INLINE __m256i upper_halves(__m256i even, __m256i odd) {
  return _mm256_blend_epi32(odd_lanes(even), odd, 0xaa);
}

/// The constants of one pair of shifts.
struct Shifts256 {
  __m256i round;            // 64-bit lanes
  __m256i even, odd;        // counts: 64-bit lanes for left shifts, 32-bit lanes for right ones
  __m256i lowest, highest;  // of x, 32-bit lanes
};
template <bool kRight>
EMBERT_INLINE Shifts256 make_shifts(int32_t left, int32_t right) {
  Shifts256 s;
  s.lowest = _mm256_set1_epi32(static_cast<int32_t>(INT32_MIN / (1 << left)));
  s.highest = _mm256_set1_epi32(left == 0 ? INT32_MAX : 1 << (31 - left));
  if (kRight) {
    s.round = _mm256_set1_epi64x((int64_t{1} << 30) + (int64_t{1} << (30 + right)));
    s.even = s.odd = _mm256_set1_epi32(right - 1);
  } else {
    s.round = _mm256_set1_epi64x(int64_t{1} << (30 - left));
    s.even = _mm256_set1_epi64x(31 - left);
    s.odd = _mm256_set1_epi64x(1 + left);
  }
  return s;
}

/// The multipliers of 8 columns as both products read them.
struct Multipliers256 {
  __m256i even, odd;
};
EMBERT_INLINE Multipliers256 load_multipliers(const int32_t* multiplier) {
  const __m256i m = load(multiplier);
  return {m, odd_lanes(m)};
}

/// requantize() for a caller that clamps the result to less than 2^30 - 1, which kRight does not
/// need; see lanes_avx512.hpp.
template <bool kRight>
EMBERT_INLINE __m256i requantize(__m256i x, const Multipliers256& m, const Shifts256& s) {
  if (!kRight) x = _mm256_max_epi32(_mm256_min_epi32(x, s.highest), s.lowest);
  const __m256i even = _mm256_add_epi64(_mm256_mul_epi32(x, m.even), s.round);
  const __m256i odd = _mm256_add_epi64(_mm256_mul_epi32(odd_lanes(x), m.odd), s.round);
  if (kRight) return _mm256_srav_epi32(upper_halves(even, odd), s.even);
  return _mm256_blend_epi32(_mm256_srlv_epi64(even, s.even), _mm256_sllv_epi64(odd, s.odd), 0xaa);
}

/// 16 columns, packed to 16 bits with saturation, in the order 0-3, 8-11, 4-7, 12-15.
template <bool kRight>
EMBERT_INLINE __m256i requantize16(const int32_t* acc, const Multipliers256* m,
                                   const Shifts256& s) {
  return _mm256_packs_epi32(requantize<kRight>(load(acc), m[0], s),
                            requantize<kRight>(load(acc + 8), m[1], s));
}
/// Restores the order of columns after such a pack.
EMBERT_INLINE __m256i unpack_order(__m256i x) { return _mm256_permute4x64_epi64(x, 0xd8); }

/// Looks up bytes in a table of 64, given as four pieces of 16 (each in both 128-bit lanes); 0 for
/// index bytes with bit 7 set. Bits 4 and 5 of an index choose the piece; bit4 and bit5 hold them
/// in bit 7 of each byte.
EMBERT_INLINE __m256i look_up(const __m256i* piece, __m256i i, __m256i bit4, __m256i bit5) {
  const __m256i p01 =
      _mm256_blendv_epi8(_mm256_shuffle_epi8(piece[0], i), _mm256_shuffle_epi8(piece[1], i), bit4);
  const __m256i p23 =
      _mm256_blendv_epi8(_mm256_shuffle_epi8(piece[2], i), _mm256_shuffle_epi8(piece[3], i), bit4);
  return _mm256_blendv_epi8(p01, p23, bit5);
}

/// The sums of the 8 lanes of four vectors. The first instructions take 64-bit lanes, the element
/// type of __m256i: gcc 12 keeps a second copy of sums that are read as another type after a loop.
EMBERT_INLINE __m128i sums_of_lanes(__m256i a, __m256i b, __m256i c, __m256i d) {
  const __m256i ab = _mm256_add_epi32(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
  const __m256i cd = _mm256_add_epi32(_mm256_unpacklo_epi64(c, d), _mm256_unpackhi_epi64(c, d));
  const __m256i x = _mm256_hadd_epi32(ab, cd);
  return _mm_add_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
}

/// Stores the first bytes of x: for tails.
EMBERT_INLINE void store_first(void* dst, __m256i x, size_t bytes) {
  uint8_t copy[32];
  store(copy, x);
  memcpy(dst, copy, bytes);
}

}  // namespace
}  // namespace embert
