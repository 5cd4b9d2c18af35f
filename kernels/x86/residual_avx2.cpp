// SPDX-License-Identifier: Apache-2.0
// Residual sum of 16 columns: residual_avx512vnni.cpp on 256-bit registers. About 66 instructions
// for 16 elements, 0.28 ns an element on Zen 5.
#include "kernels/variants.hpp"
#include "kernels/x86/lanes_avx2.hpp"

namespace embert {
namespace {

struct Columns {
  Multipliers256 m;
  __m256i low, high;  // of the residual's multiplier
  __m256i constant;   // with the rounding of the last shift
};
EMBERT_INLINE Columns load_columns(const RequantizeResidualArgs& args, size_t c) {
  const __m256i r = load(args.residual_multiplier + c);
  const __m256i high = _mm256_srai_epi32(_mm256_add_epi32(r, _mm256_set1_epi32(1 << 15)), 16);
  return {load_multipliers(args.factor.multiplier + c), r, high,
          _mm256_add_epi32(load(args.constant + c), _mm256_set1_epi32(8))};
}

struct LeftShift {
  __m256i lowest, highest;  // of x, before the shift
  __m128i count;
};
struct Shifts {
  Shifts256 right;
  LeftShift left;
};
// Saturates to 2^31 - 1: unlike in requantize() no clamp follows that would hide 2^31.
EMBERT_INLINE __m256i shift_left(__m256i x, const LeftShift& s) {
  const __m256i above = _mm256_cmpgt_epi32(x, s.highest);
  const __m256i shifted = _mm256_sll_epi32(_mm256_max_epi32(x, s.lowest), s.count);
  return _mm256_blendv_epi8(shifted, _mm256_set1_epi32(INT32_MAX), above);
}

// 8 columns. The residual is zero-extended, so VPMADDWD multiplies the low halves alone.
template <bool kRight>
EMBERT_INLINE __m256i sum(__m256i x, __m256i residual, __m256i row_max, const Columns& k,
                          const Shifts& s) {
  if (!kRight) x = shift_left(x, s.left);
  const __m256i w = requantize<kRight>(x, k.m, s.right);
  const __m256i half = _mm256_set1_epi64x(1 << 14);
  const __m256i even = _mm256_add_epi64(_mm256_mul_epi32(w, row_max), half);
  const __m256i odd = _mm256_add_epi64(_mm256_mul_epi32(odd_lanes(w), row_max), half);
  __m256i product =
      _mm256_blend_epi32(_mm256_srli_epi64(even, 15), _mm256_slli_epi64(odd, 17), 0xaa);
  product = _mm256_max_epi32(_mm256_min_epi32(product, _mm256_set1_epi32(kResidualBound)),
                             _mm256_set1_epi32(-kResidualBound));
  const __m256i low = _mm256_srai_epi32(
      _mm256_add_epi32(_mm256_madd_epi16(residual, k.low), _mm256_set1_epi32(1 << 15)), 16);
  const __m256i carried = _mm256_add_epi32(_mm256_madd_epi16(residual, k.high), low);
  return _mm256_srai_epi32(_mm256_add_epi32(_mm256_add_epi32(product, k.constant), carried), 4);
}

template <bool kRight>
void run(const RequantizeResidualArgs& args) {
  const int32_t left = args.factor.left;
  const Shifts shifts = {make_shifts<kRight>(0, args.factor.right),
                         {_mm256_set1_epi32(static_cast<int32_t>(INT32_MIN / (1 << left))),
                          _mm256_set1_epi32(INT32_MAX >> left), _mm_cvtsi32_si128(left)}};
  for (size_t c = 0; c < args.n; c += 16) {
    const size_t bytes = args.n - c >= 16 ? 32 : 2 * (args.n - c);
    const Columns a = load_columns(args, c), b = load_columns(args, c + 8);
    for (size_t i = 0; i < args.m; ++i) {
      const int32_t* acc = args.acc + i * args.acc_stride + c;
      const int16_t* residual = args.residual + i * args.dst_stride + c;
      int16_t* dst = args.dst + i * args.dst_stride + c;
      const __m256i row_max = _mm256_set1_epi32(args.row_max[i]);
      int16_t tail[16] = {};
      if (bytes < 32) {
        memcpy(tail, residual, bytes);
        residual = tail;
      }
      const __m256i t = load(residual);
      const __m256i sums = _mm256_packs_epi32(
          sum<kRight>(load(acc), _mm256_cvtepu16_epi32(_mm256_castsi256_si128(t)), row_max, a,
                      shifts),
          sum<kRight>(load(acc + 8), _mm256_cvtepu16_epi32(_mm256_extracti128_si256(t, 1)), row_max,
                      b, shifts));
      if (bytes == 32) {
        store(dst, unpack_order(sums));
      } else {
        store_first(dst, unpack_order(sums), bytes);
      }
    }
  }
}

}  // namespace

void requantize_residual_avx2(const RequantizeResidualArgs& args) {
  if (args.factor.right != 0) {
    run<true>(args);
  } else {
    run<false>(args);
  }
}

}  // namespace embert
