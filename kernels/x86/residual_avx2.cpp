// SPDX-License-Identifier: Apache-2.0
// Residual sum of 16 columns: residual_avx512.hpp on 256-bit registers. About 57 vector
// instructions for 16 small sums, 78 for any.
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

/// The residual's term and the constant. The residual is zero-extended, so VPMADDWD multiplies the
/// low halves alone.
EMBERT_INLINE __m256i carried_sum(__m256i residual, const Columns& k) {
  const __m256i low = _mm256_srai_epi32(
      _mm256_add_epi32(_mm256_madd_epi16(residual, k.low), _mm256_set1_epi32(1 << 15)), 16);
  const __m256i high = _mm256_madd_epi16(residual, k.high);
  return _mm256_add_epi32(_mm256_add_epi32(high, low), k.constant);
}

/// Small sums; residual_avx512.hpp says which and why.
struct SmallSums {
  __m256i small;  // -small .. small - 1, a power of 2; 0: every sum
  __m256i left;   // count
  Shifts256 right;

  explicit SmallSums(const Requantize& factor)
      : small(_mm256_set1_epi32(factor.right > 0 ? 0 : (1 << 30) >> factor.left)),
        left(_mm256_set1_epi32(factor.right > 0 ? 0 : factor.left + 1)),
        right(make_shifts<true>(0, factor.right)) {
    if (factor.right == 0) right.even = _mm256_setzero_si256();
  }

  /// Whether all sums of 16 columns are small.
  bool are_all(const int32_t* acc, size_t stride, size_t m) const {
    const __m256i beyond = _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_add_epi32(small, small));
    if (_mm256_testz_si256(beyond, beyond) != 0) return true;
    __m256i joined = _mm256_setzero_si256();
    for (size_t i = 0; i < m; ++i, acc += stride) {
      joined = _mm256_or_si256(joined, _mm256_add_epi32(load(acc), small));
      joined = _mm256_or_si256(joined, _mm256_add_epi32(load(acc + 8), small));
    }
    return _mm256_testz_si256(joined, beyond) != 0;
  }

  /// 8 columns.
  inline __attribute__((always_inline)) __m256i operator()(__m256i x, __m256i residual,
                                                           __m256i row_max,
                                                           const Columns& k) const {
    const __m256i v = requantize<true>(_mm256_sllv_epi32(x, left), k.m, right);
    const __m256i rounded = _mm256_add_epi32(v, _mm256_set1_epi32(1 << 15));
    // Of v = 2^16 h + w: h r, and RS(w r, 15), which is extended from 16 bits.
    const __m256i upper = _mm256_madd_epi16(rounded, _mm256_slli_epi32(row_max, 16));
    const __m256i lower = _mm256_madd_epi16(_mm256_mulhrs_epi16(v, row_max), _mm256_set1_epi32(1));
    const __m256i sum = _mm256_add_epi32(_mm256_add_epi32(carried_sum(residual, k), lower),
                                         _mm256_add_epi32(upper, upper));
    return _mm256_srai_epi32(sum, 4);
  }
};

/// Any sums, without a right shift.
struct AnySums {
  __m256i lowest, highest;  // of x, before the left shift
  __m128i left;             // count
  Shifts256 no_shift;

  explicit AnySums(const Requantize& factor)
      : lowest(_mm256_set1_epi32(static_cast<int32_t>(INT32_MIN / (1 << factor.left)))),
        highest(_mm256_set1_epi32(INT32_MAX >> factor.left)),
        left(_mm_cvtsi32_si128(factor.left)),
        no_shift(make_shifts<false>(0, 0)) {}

  /// Saturates to 2^31 - 1: unlike in requantize() no clamp follows that would hide 2^31.
  inline __attribute__((always_inline)) __m256i shift_left(__m256i x) const {
    const __m256i above = _mm256_cmpgt_epi32(x, highest);
    const __m256i shifted = _mm256_sll_epi32(_mm256_max_epi32(x, lowest), left);
    return _mm256_blendv_epi8(shifted, _mm256_set1_epi32(INT32_MAX), above);
  }

  /// 8 columns.
  inline __attribute__((always_inline)) __m256i operator()(__m256i x, __m256i residual,
                                                           __m256i row_max,
                                                           const Columns& k) const {
    const __m256i w = requantize<false>(shift_left(x), k.m, no_shift);
    const __m256i half = _mm256_set1_epi64x(1 << 14);
    const __m256i even = _mm256_add_epi64(_mm256_mul_epi32(w, row_max), half);
    const __m256i odd = _mm256_add_epi64(_mm256_mul_epi32(odd_lanes(w), row_max), half);
    __m256i product =
        _mm256_blend_epi32(_mm256_srli_epi64(even, 15), _mm256_slli_epi64(odd, 17), 0xaa);
    product = _mm256_max_epi32(_mm256_min_epi32(product, _mm256_set1_epi32(kResidualBound)),
                               _mm256_set1_epi32(-kResidualBound));
    return _mm256_srai_epi32(_mm256_add_epi32(product, carried_sum(residual, k)), 4);
  }
};

/// 16 columns of all rows; sum8(x, residual, row_max, columns) are 8 sums in 32 bits.
template <typename Sum8>
EMBERT_INLINE void run_columns(const RequantizeResidualArgs& args, size_t c, const Sum8& sum8) {
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
    const __m256i sums = unpack_order(_mm256_packs_epi32(
        sum8(load(acc), _mm256_cvtepu16_epi32(_mm256_castsi256_si128(t)), row_max, a),
        sum8(load(acc + 8), _mm256_cvtepu16_epi32(_mm256_extracti128_si256(t, 1)), row_max, b)));
    if (bytes == 32) {
      store(dst, sums);
    } else {
      store_first(dst, sums, bytes);
    }
  }
}

}  // namespace

void requantize_residual_avx2(const RequantizeResidualArgs& args) {
  const SmallSums small(args.factor);
  const AnySums any(args.factor);
  for (size_t c = 0; c < args.n; c += 16) {
    if (small.are_all(args.acc + c, args.acc_stride, args.m)) {
      run_columns(args, c, small);
    } else {
      run_columns(args, c, any);
    }
  }
}

}  // namespace embert
