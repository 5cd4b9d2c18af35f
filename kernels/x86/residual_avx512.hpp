// SPDX-License-Identifier: Apache-2.0
// Residual sum of 16 columns. The requantised sums stay in 64-bit lanes between their two products.
// The 16 x 30 bit product of the residual is two VPMADDWD with the halves of its multiplier: R =
// 2^16 high + low, low signed, so RS(t R, 16) = t high + RS(t low, 16). About 28 instructions for
// 16 elements.
#pragma once

#include "kernels/contracts/residual.hpp"
#include "kernels/x86/lanes_avx512.hpp"

namespace embert {
namespace {

struct ResidualShifts {
  __m512i round, right;     // 64-bit lanes
  __m512i lowest, highest;  // of x << left, before the shift
  __m128i left;             // count
};
template <bool kLeft>
EMBERT_INLINE ResidualShifts make_residual_shifts(const Requantize& factor) {
  ResidualShifts s;
  const int32_t left = factor.left, right = factor.right;
  s.round = _mm512_set1_epi64((int64_t{1} << 30) + (right > 0 ? int64_t{1} << (30 + right) : 0));
  s.right = _mm512_set1_epi64(31 + right);
  s.lowest = _mm512_set1_epi32(static_cast<int32_t>(INT32_MIN / (1 << left)));
  s.highest = _mm512_set1_epi32(INT32_MAX >> left);
  s.left = _mm_cvtsi32_si128(left);
  return s;
}

// Saturates to 2^31 - 1: unlike in requantize() no clamp follows that would hide 2^31.
EMBERT_INLINE __m512i shift_left(__m512i x, const ResidualShifts& s) {
  const __mmask16 above = _mm512_cmpgt_epi32_mask(x, s.highest);
  const __m512i shifted = _mm512_sll_epi32(_mm512_max_epi32(x, s.lowest), s.left);
  return _mm512_mask_mov_epi32(shifted, above, _mm512_set1_epi32(INT32_MAX));
}

struct ResidualColumns {
  Multipliers512 m;
  __m512i low, high;  // of the residual's multiplier
  __m512i constant;   // with the rounding of the last shift
};

EMBERT_INLINE ResidualColumns load_columns(const RequantizeResidualArgs& args, size_t c) {
  const __m512i r = _mm512_loadu_si512(args.residual_multiplier + c);
  const __m512i high = _mm512_srai_epi32(_mm512_add_epi32(r, _mm512_set1_epi32(1 << 15)), 16);
  return {load_multipliers(args.factor.multiplier + c), r, high,
          _mm512_add_epi32(_mm512_loadu_si512(args.constant + c), _mm512_set1_epi32(8))};
}

// 16 columns. The residual is zero-extended, so VPMADDWD multiplies the low halves alone.
template <bool kLeft>
EMBERT_INLINE __m512i residual_sum16(__m512i x, __m512i residual, __m512i row_max,
                                     const ResidualColumns& k, const ResidualShifts& s) {
  if (kLeft) x = shift_left(x, s);
  const __m512i even =
      _mm512_srav_epi64(_mm512_add_epi64(_mm512_mul_epi32(x, k.m.even), s.round), s.right);
  const __m512i odd = _mm512_srav_epi64(
      _mm512_add_epi64(_mm512_mul_epi32(odd_lanes(x), k.m.odd), s.round), s.right);
  const __m512i half = _mm512_set1_epi64(1 << 14);
  const __m512i even_product = _mm512_add_epi64(_mm512_mul_epi32(even, row_max), half);
  const __m512i odd_product = _mm512_add_epi64(_mm512_mul_epi32(odd, row_max), half);
  __m512i product = _mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even_product, 15),
                                            _mm512_slli_epi64(odd_product, 17));
  product = _mm512_max_epi32(_mm512_min_epi32(product, _mm512_set1_epi32(kResidualBound)),
                             _mm512_set1_epi32(-kResidualBound));
  const __m512i low = _mm512_srai_epi32(
      _mm512_add_epi32(_mm512_madd_epi16(residual, k.low), _mm512_set1_epi32(1 << 15)), 16);
  const __m512i carried = _mm512_add_epi32(_mm512_madd_epi16(residual, k.high), low);
  return _mm512_srai_epi32(_mm512_add_epi32(_mm512_add_epi32(product, k.constant), carried), 4);
}

}  // namespace
}  // namespace embert
