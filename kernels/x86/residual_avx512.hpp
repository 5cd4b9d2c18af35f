// SPDX-License-Identifier: Apache-2.0
// Residual sum of 16 columns. Nearly all sums are small: shifted left they stay below 2^30, or the
// factor shifts right. Then no shift saturates, and the product with the row's maximum needs no
// clamp: where it passes kResidualBound, the sum saturates with the clamp and without, since 2^29 -
// 2^28 - (2^28 - 2^19) is 2^15 after the last shift. So VPDPWSSD can add products of 16 bits.
#pragma once

#include "kernels/contracts/residual.hpp"
#include "kernels/x86/lanes_avx512.hpp"

namespace embert {
namespace {

struct ResidualShifts {
  // Of small sums: the shift before the product, and those behind it.
  int32_t small;  // -small .. small - 1 are small, a power of 2; 0: every sum is
  __m512i small_left;
  Shifts512 small_right;
  // Of any sums, which have no right shift: x << left saturates beyond lowest and highest.
  __m512i left, lowest, highest;
};
EMBERT_INLINE ResidualShifts make_residual_shifts(const Requantize& factor) {
  const int32_t left = factor.left, right = factor.right;
  ResidualShifts s;
  s.small = right > 0 ? 0 : (1 << 30) >> left;
  // Without a right shift one more to the left, so that the result is the upper half: RS(x m, 31) =
  // RS(2 x m, 32).
  s.small_left = _mm512_set1_epi32(right > 0 ? 0 : left + 1);
  s.small_right = make_shifts<true>(factor);
  if (right == 0) s.small_right.even = _mm512_setzero_si512();
  s.left = _mm512_set1_epi32(left);
  s.lowest = _mm512_set1_epi32(static_cast<int32_t>(INT32_MIN / (1 << left)));
  s.highest = _mm512_set1_epi32(INT32_MAX >> left);
  return s;
}

/// Whether all sums are small that went into `joined`: x + s.small for each sum x, joined by OR.
EMBERT_INLINE bool are_small(__m512i joined, const ResidualShifts& s) {
  return _mm512_test_epi32_mask(joined, _mm512_set1_epi32(-2 * s.small)) == 0;
}

/// A row's maximum r as factors of the (lower, upper) halves of 32-bit lanes.
struct ResidualRow {
  int32_t lower, upper, one_upper;  ///< (r, 0), (0, r), (1, r)
};
EMBERT_INLINE ResidualRow make_residual_row(int32_t row_max) {
  return {row_max, row_max << 16, row_max << 16 | 1};
}

struct ResidualColumns {
  Multipliers512 m;
  __m512i low, high;  // of the residual's multiplier R = 2^16 high + low, low signed
  __m512i constant;   // with the rounding of the last shift
};
EMBERT_INLINE ResidualColumns load_columns(const RequantizeResidualArgs& args, size_t c) {
  const __m512i r = _mm512_loadu_si512(args.residual_multiplier + c);
  const __m512i high = _mm512_srai_epi32(_mm512_add_epi32(r, _mm512_set1_epi32(1 << 15)), 16);
  return {load_multipliers(args.factor.multiplier + c), r, high,
          _mm512_add_epi32(_mm512_loadu_si512(args.constant + c), _mm512_set1_epi32(8))};
}

/// The residual's term and the constant: RS(t R, 16) = t high + RS(t low, 16). The residual t is
/// zero-extended, so that the upper halves of low and high do not count.
EMBERT_INLINE __m512i carried_sum16(__m512i residual, const ResidualColumns& k) {
  const __m512i low =
      _mm512_srai_epi32(_mm512_dpwssd_epi32(_mm512_set1_epi32(1 << 15), residual, k.low), 16);
  return _mm512_dpwssd_epi32(_mm512_add_epi32(low, k.constant), residual, k.high);
}

/// 16 columns of small sums. The requantised v = 2^16 h + w, w signed, is at most 2^30.
/// RS(v r, 15) = 2 h r + RS(w r, 15), and VPMULHRSW is the latter.
EMBERT_INLINE __m512i small_residual_sum16(__m512i x, __m512i residual, const ResidualRow& row,
                                           const ResidualColumns& k, const ResidualShifts& s) {
  x = _mm512_sllv_epi32(x, s.small_left);
  const __m512i v = requantize_lanes<true>(x, odd_lanes(x), k.m, s.small_right);
  const __m512i rounded = _mm512_add_epi32(v, _mm512_set1_epi32(1 << 15));  // its upper half is h
  const __m512i parts = _mm512_mask_blend_epi16(
      0x55555555, rounded, _mm512_mulhrs_epi16(v, _mm512_set1_epi32(row.lower)));
  const __m512i sum =
      _mm512_dpwssd_epi32(carried_sum16(residual, k), rounded, _mm512_set1_epi32(row.upper));
  return _mm512_srai_epi32(_mm512_dpwssd_epi32(sum, parts, _mm512_set1_epi32(row.one_upper)), 4);
}

/// 16 columns of any sums, without a right shift. The requantised ones stay in 64-bit lanes between
/// their two products. The left shift saturates to 2^31 - 1: unlike in requantize() no clamp
/// follows that would hide 2^31.
EMBERT_INLINE __m512i residual_sum16(__m512i x, __m512i residual, const ResidualRow& row,
                                     const ResidualColumns& k, const ResidualShifts& s) {
  const __mmask16 above = _mm512_cmpgt_epi32_mask(x, s.highest);
  x = _mm512_sllv_epi32(_mm512_max_epi32(x, s.lowest), s.left);
  x = _mm512_mask_mov_epi32(x, above, _mm512_set1_epi32(INT32_MAX));
  const __m512i round = _mm512_set1_epi64(1 << 30);
  const __m512i even =
      _mm512_srai_epi64(_mm512_add_epi64(_mm512_mul_epi32(x, k.m.even), round), 31);
  const __m512i odd =
      _mm512_srai_epi64(_mm512_add_epi64(_mm512_mul_epi32(odd_lanes(x), k.m.odd), round), 31);
  const __m512i half = _mm512_set1_epi64(1 << 14), row_max = _mm512_set1_epi32(row.lower);
  const __m512i even_product = _mm512_add_epi64(_mm512_mul_epi32(even, row_max), half);
  const __m512i odd_product = _mm512_add_epi64(_mm512_mul_epi32(odd, row_max), half);
  __m512i product = _mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even_product, 15),
                                            _mm512_slli_epi64(odd_product, 17));
  product = _mm512_max_epi32(_mm512_min_epi32(product, _mm512_set1_epi32(kResidualBound)),
                             _mm512_set1_epi32(-kResidualBound));
  return _mm512_srai_epi32(_mm512_add_epi32(product, carried_sum16(residual, k)), 4);
}

}  // namespace
}  // namespace embert
