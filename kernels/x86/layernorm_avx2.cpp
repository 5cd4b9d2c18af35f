// SPDX-License-Identifier: Apache-2.0
// LayerNorm of blocks of rows, 16 columns at a time: layernorm_avx512vnni.cpp on 256-bit registers.
// AVX2 has no arithmetic 64-bit shift, so 2^62 is added to the first product before a logical shift
// and taken out after it. About 45 instructions for 16 elements, 0.24 ns an element on Zen 5.
#include "kernels/variants.hpp"
#include "kernels/x86/lanes_avx2.hpp"

namespace embert {
namespace {

constexpr size_t kRows = 16;

struct Row {
  LayerNormRow reference;
  int64_t round, shift, lift;  // of (n v - s1) y to Q21; lift: 2^62 after the shift
};

EMBERT_INLINE int64_t sum_of_64(__m256i x) {
  int64_t lane[4];
  store(lane, x);
  return lane[0] + lane[1] + lane[2] + lane[3];
}

// Exact sums. A pair of squares can be 2^31, so they are added in 64-bit lanes: all holds sums of
// whole lanes modulo 2^64, upper those of their upper halves.
EMBERT_INLINE Row prepare_row(const LayerNormArgs& args, const int16_t* src) {
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i sum = _mm256_setzero_si256(), all = sum, upper = sum;
  size_t c = 0;
  for (; c + 16 <= args.n; c += 16) {
    const __m256i v = load(src + c), squares = _mm256_madd_epi16(v, v);
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(v, ones));
    all = _mm256_add_epi64(all, squares);
    upper = _mm256_add_epi64(upper, _mm256_srli_epi64(squares, 32));
  }
  int32_t lane[8];
  store(lane, sum);
  int64_t s1 = 0;
  for (const int32_t x : lane) s1 += x;
  int64_t s2 =
      sum_of_64(_mm256_add_epi64(_mm256_sub_epi64(all, _mm256_slli_epi64(upper, 32)), upper));
  for (; c < args.n; ++c) {
    s1 += src[c];
    s2 += int32_t{src[c]} * src[c];
  }
  Row row;
  row.reference = layernorm_row(s1, s2, args.epsilon_n2, static_cast<int32_t>(args.n));
  const int32_t pre = row.reference.pre_shift, shift = row.reference.shift;
  row.round = (int64_t{1} << (30 - pre)) + (int64_t{1} << (30 + shift - pre)) + (int64_t{1} << 62);
  row.shift = 31 + shift - pre;
  row.lift = int64_t{1} << (62 - row.shift);
  return row;
}

// Part p of gain and bias holds the columns 4 q + p in 64-bit lanes; the upper halves of gain are
// not read. bias includes the roundings of both products and is shifted left by 28.
struct Columns {
  __m256i gain[4], bias[4];
};
struct Constants {
  __m256i n_low, n_high;  // n in the lower or the upper half of 32-bit lanes
  __m256i count;          // shift - 11: of the upper half of the 64-bit lanes
};
EMBERT_INLINE void load_columns(const int32_t* values, __m256i* part) {
  const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
  const __m256i low = _mm256_permutevar8x32_epi32(load(values), order);
  const __m256i high = _mm256_permutevar8x32_epi32(load(values + 8), order);
  part[0] = _mm256_permute2x128_si256(low, high, 0x20);
  part[1] = _mm256_permute2x128_si256(low, high, 0x31);
  part[2] = odd_lanes(part[0]);
  part[3] = odd_lanes(part[1]);
}

EMBERT_INLINE __m256i product(__m256i centred, const Row& row, __m256i gain, __m256i bias) {
  const __m256i lifted =
      _mm256_add_epi64(_mm256_mul_epi32(centred, _mm256_set1_epi32(row.reference.y_q30)),
                       _mm256_set1_epi64x(row.round));
  const __m256i normal_q21 = _mm256_sub_epi64(
      _mm256_srlv_epi64(lifted, _mm256_set1_epi64x(row.shift)), _mm256_set1_epi64x(row.lift));
  return _mm256_add_epi64(_mm256_mul_epi32(normal_q21, gain), bias);
}

// 16 columns of a row.
EMBERT_INLINE __m256i normalise(__m256i v, const Row& row, const Columns& k, const Constants& all) {
  const __m256i s1 = _mm256_set1_epi32(row.reference.s1);
  const __m256i evens = _mm256_sub_epi32(_mm256_madd_epi16(v, all.n_low), s1);  // columns 0, 2, ...
  const __m256i odds = _mm256_sub_epi32(_mm256_madd_epi16(v, all.n_high), s1);
  const __m256i t02 = upper_halves(product(evens, row, k.gain[0], k.bias[0]),
                                   product(odd_lanes(evens), row, k.gain[2], k.bias[2]));
  const __m256i t13 = upper_halves(product(odds, row, k.gain[1], k.bias[1]),
                                   product(odd_lanes(odds), row, k.gain[3], k.bias[3]));
  const __m256i packed =
      _mm256_packs_epi32(_mm256_srav_epi32(t02, all.count), _mm256_srav_epi32(t13, all.count));
  return _mm256_shuffle_epi8(
      packed, _mm256_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15, 0, 1, 8, 9, 2,
                               3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
}

void normalise_block(const LayerNormArgs& args, size_t row0, size_t m) {
  Row rows[kRows];
  const int32_t n = static_cast<int32_t>(args.n);
  const int16_t* const src = args.src + row0 * args.stride;
  int16_t* const dst = args.dst + row0 * args.stride;
  for (size_t i = 0; i < m; ++i) rows[i] = prepare_row(args, src + i * args.stride);

  const __m256i n_low = _mm256_set1_epi32(n);
  const Constants all = {n_low, _mm256_slli_epi32(n_low, 16), _mm256_set1_epi32(args.shift - 11)};
  const __m256i round = _mm256_set1_epi64x((int64_t{1} << 27) + (int64_t{1} << (args.shift + 20)));
  size_t c = 0;
  for (; c + 16 <= args.n; c += 16) {
    Columns columns;
    load_columns(args.gain + c, columns.gain);
    load_columns(args.bias + c, columns.bias);
    for (__m256i& bias : columns.bias) {
      bias = _mm256_add_epi64(_mm256_mul_epi32(bias, _mm256_set1_epi32(1 << 28)), round);
    }
    for (size_t i = 0; i < m; ++i) {
      const size_t at = i * args.stride + c;
      store(dst + at, normalise(load(src + at), rows[i], columns, all));
    }
  }
  for (; c < args.n; ++c) {
    for (size_t i = 0; i < m; ++i) {
      const size_t at = i * args.stride + c;
      dst[at] = static_cast<int16_t>(
          layernorm_value(src[at], n, rows[i].reference, {args.gain[c], args.bias[c], args.shift}));
    }
  }
}

}  // namespace

void layernorm_s16_avx2(const LayerNormArgs& args) {
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
