// SPDX-License-Identifier: Apache-2.0
// LayerNorm of blocks of rows: first the sums of all rows, then 32 columns at a time down the
// block, so that a column's constants are made once. Both products stay in 64-bit lanes; two floors
// in a row are one (lanes_avx512.hpp), so each product costs an addition, which includes the bias,
// and a shift. VPDPWSSD separates the four columns of a 64-bit lane and subtracts the mean at the
// same time. About 38 instructions for 32 elements, 0.115 ns an element on Zen 5.
#include "kernels/variants.hpp"
#include "kernels/x86/lanes_avx512.hpp"

namespace embert {
namespace {

constexpr size_t kRows = 16;

struct Row {
  int32_t minus_s1, y_q30;
  int64_t round, shift;  // of (n v - s1) y to Q21
};

// Exact sums. A pair of squares can be 2^31, so they are added in 64-bit lanes: all holds sums of
// whole lanes modulo 2^64, upper those of their upper halves.
EMBERT_INLINE void sums(const int16_t* src, size_t n, int64_t* s1, int64_t* s2) {
  const __m512i ones = _mm512_set1_epi16(1);
  __m512i sum = _mm512_setzero_si512(), all = sum, upper = sum;
  for (size_t c = 0; c < n; c += 32) {
    const __m512i v = n - c >= 32 ? _mm512_loadu_si512(src + c)
                                  : _mm512_maskz_loadu_epi16(mask32(n - c), src + c);
    const __m512i squares = _mm512_madd_epi16(v, v);
    sum = _mm512_dpwssd_epi32(sum, v, ones);
    all = _mm512_add_epi64(all, squares);
    upper = _mm512_add_epi64(upper, _mm512_srli_epi64(squares, 32));
  }
  *s1 = _mm512_reduce_add_epi32(sum);  // below 2^27 for n <= 4096
  *s2 = _mm512_reduce_add_epi64(
      _mm512_add_epi64(_mm512_sub_epi64(all, _mm512_slli_epi64(upper, 32)), upper));
}

EMBERT_INLINE Row prepare_row(const LayerNormArgs& args, int64_t s1, int64_t s2) {
  const LayerNormRow r = layernorm_row(s1, s2, args.epsilon_n2, static_cast<int32_t>(args.n));
  return {-r.s1, r.y_q30,
          (int64_t{1} << (30 - r.pre_shift)) + (int64_t{1} << (30 + r.shift - r.pre_shift)),
          31 + r.shift - r.pre_shift};
}

// 32 values as four vectors: part p holds the columns 4 q + p in the lower halves of 64-bit lanes;
// the upper halves are not read. Members instead of an array, because gcc 12 keeps members in
// registers.
struct Parts {
  __m512i p0, p1, p2, p3;
};
EMBERT_INLINE Parts load_parts(const int32_t* values, size_t left) {
  const __m512i evens =
      _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odds = _mm512_or_si512(evens, _mm512_set1_epi32(1));
  const __m512i low = _mm512_maskz_loadu_epi32(mask16(left), values);
  const __m512i high =
      left > 16 ? _mm512_maskz_loadu_epi32(mask16(left - 16), values + 16) : _mm512_setzero_si512();
  const __m512i even = _mm512_permutex2var_epi32(low, evens, high);
  const __m512i odd = _mm512_permutex2var_epi32(low, odds, high);
  return {even, odd, odd_lanes(even), odd_lanes(odd)};
}

struct Columns {
  Parts gain, bias;  // bias includes the roundings of both products and is shifted left by 28
};
struct Constants {
  __m512i n_low, n_high;  // n in the lower or the upper half of 32-bit lanes
  __m512i count;          // shift - 11: of the upper half of the 64-bit lanes
};
EMBERT_INLINE __m512i shifted_bias(__m512i bias, __m512i round) {
  return _mm512_add_epi64(_mm512_srai_epi64(_mm512_slli_epi64(bias, 32), 4), round);
}
EMBERT_INLINE Columns load_columns(const LayerNormArgs& args, size_t c) {
  const __m512i round = _mm512_set1_epi64((int64_t{1} << 27) + (int64_t{1} << (args.shift + 20)));
  const Parts bias = load_parts(args.bias + c, args.n - c);
  return {load_parts(args.gain + c, args.n - c),
          {shifted_bias(bias.p0, round), shifted_bias(bias.p1, round), shifted_bias(bias.p2, round),
           shifted_bias(bias.p3, round)}};
}

EMBERT_INLINE __m512i product(__m512i centred, const Row& row, __m512i gain, __m512i bias) {
  const __m512i normal_q21 =
      _mm512_srav_epi64(_mm512_add_epi64(_mm512_mul_epi32(centred, _mm512_set1_epi32(row.y_q30)),
                                         _mm512_set1_epi64(row.round)),
                        _mm512_set1_epi64(row.shift));
  return _mm512_add_epi64(_mm512_mul_epi32(normal_q21, gain), bias);
}

// 32 columns of a row.
EMBERT_INLINE __m512i normalise(__m512i v, const Row& row, const Columns& k, const Constants& all) {
  const __m512i minus_s1 = _mm512_set1_epi32(row.minus_s1);
  const __m512i evens = _mm512_dpwssd_epi32(minus_s1, v, all.n_low);  // columns 0, 2, 4, ...
  const __m512i odds = _mm512_dpwssd_epi32(minus_s1, v, all.n_high);
  const __m512i p0 = product(evens, row, k.gain.p0, k.bias.p0);
  const __m512i p1 = product(odds, row, k.gain.p1, k.bias.p1);
  const __m512i p2 = product(odd_lanes(evens), row, k.gain.p2, k.bias.p2);
  const __m512i p3 = product(odd_lanes(odds), row, k.gain.p3, k.bias.p3);
  const __m512i t02 = _mm512_castps_si512(
      _mm512_mask_movehdup_ps(_mm512_castsi512_ps(p2), 0x5555, _mm512_castsi512_ps(p0)));
  const __m512i t13 = _mm512_castps_si512(
      _mm512_mask_movehdup_ps(_mm512_castsi512_ps(p3), 0x5555, _mm512_castsi512_ps(p1)));
  const __m512i packed =
      _mm512_packs_epi32(_mm512_srav_epi32(t02, all.count), _mm512_srav_epi32(t13, all.count));
  const __m512i order =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
  return _mm512_shuffle_epi8(packed, order);
}

void normalise_block(const LayerNormArgs& args, size_t row0, size_t m) {
  Row rows[kRows];
  const int16_t* const src = args.src + row0 * args.stride;
  int16_t* const dst = args.dst + row0 * args.stride;
  // All sums come before the first square root, so that the dependent chains of the rows overlap.
  int64_t s1[kRows], s2[kRows];
  for (size_t i = 0; i < m; ++i) sums(src + i * args.stride, args.n, &s1[i], &s2[i]);
  for (size_t i = 0; i < m; ++i) rows[i] = prepare_row(args, s1[i], s2[i]);

  const __m512i n_low = _mm512_set1_epi32(static_cast<int32_t>(args.n));
  const Constants all = {n_low, _mm512_slli_epi32(n_low, 16), _mm512_set1_epi32(args.shift - 11)};
  for (size_t c = 0; c < args.n; c += 32) {
    const Columns columns = load_columns(args, c);
    const int16_t* from = src + c;
    int16_t* to = dst + c;
    if (args.n - c >= 32) {
      for (size_t i = 0; i < m; ++i, from += args.stride, to += args.stride) {
        _mm512_storeu_si512(to, normalise(_mm512_loadu_si512(from), rows[i], columns, all));
      }
    } else {
      const __mmask32 mask = mask32(args.n - c);
      for (size_t i = 0; i < m; ++i, from += args.stride, to += args.stride) {
        const __m512i v = _mm512_maskz_loadu_epi16(mask, from);
        _mm512_mask_storeu_epi16(to, mask, normalise(v, rows[i], columns, all));
      }
    }
  }
}

}  // namespace

void layernorm_s16_avx512vnni(const LayerNormArgs& args) {
  if (args.shift <
      11) {  // gains beyond 2^20 residual scales: the result needs more than the upper half
    layernorm_s16_scalar(args);
    return;
  }
  for (size_t i = 0; i < args.m; i += kRows) {
    normalise_block(args, i, args.m - i < kRows ? args.m - i : kRows);
  }
}

}  // namespace embert
