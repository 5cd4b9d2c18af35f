// SPDX-License-Identifier: Apache-2.0
// VPDPBUSD on 512 bits, tiles of up to 4 rows x 4 table rows: 16 sums, 4 weights and 1 input in
// registers. The table's bytes become unsigned, w + 128, when they are loaded; 128 times the sum of
// the inputs is subtracted at the end. The sums start with the columns beyond whole steps, read
// with a mask.
#if !defined(__AVX512VNNI__)
#error "this file needs the flags of avx512vnni (kernels/sources.cmake)"
#endif
#include <string.h>

#include "kernels/variants.hpp"
#include "kernels/x86/lanes_avx512.hpp"

namespace embert {
namespace {

constexpr size_t kStep = 64;

// The sums of the 16 lanes of four vectors; 64-bit lanes first, as in lanes_avx2.hpp.
EMBERT_INLINE __m128i sums_of_lanes(__m512i a, __m512i b, __m512i c, __m512i d) {
  const __m512i ab = _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
  const __m512i cd = _mm512_add_epi32(_mm512_unpacklo_epi64(c, d), _mm512_unpackhi_epi64(c, d));
  const __m256i x = _mm256_hadd_epi32(
      _mm256_add_epi32(_mm512_castsi512_si256(ab), _mm512_extracti64x4_epi64(ab, 1)),
      _mm256_add_epi32(_mm512_castsi512_si256(cd), _mm512_extracti64x4_epi64(cd, 1)));
  return _mm_add_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
}

// The columns of a row beyond whole steps, then zeros.
EMBERT_INLINE __m512i load_last(const int8_t* row, size_t k) {
  return _mm512_maskz_loadu_epi8(mask64(k % kStep), row + k - k % kStep);
}

// The parts of some rows that are the same for all rows of the table.
template <size_t Rows>
struct Inputs {
  __m512i last[Rows];    // the last columns
  __m128i offset[Rows];  // 128 * sum of the row, in all lanes
};

template <size_t Rows>
Inputs<Rows> prepare(const DotRowsArgs& args, size_t i) {
  Inputs<Rows> in;
  const __m512i zero = _mm512_setzero_si512(), half = _mm512_set1_epi8(-128);  // 128, unsigned
  for (size_t r = 0; r < Rows; ++r) {
    const int8_t* lhs = args.lhs + (i + r) * args.lhs_stride;
    in.last[r] = load_last(lhs, args.k);
    __m512i sum = _mm512_dpbusd_epi32(zero, half, in.last[r]);
    for (size_t c = 0; c + kStep <= args.k; c += kStep) {
      sum = _mm512_dpbusd_epi32(sum, half, _mm512_loadu_si512(lhs + c));
    }
    in.offset[r] = sums_of_lanes(sum, sum, sum, sum);
  }
  return in;
}

template <size_t Rows, size_t Columns>
[[gnu::noinline]] void tile(const DotRowsArgs& args, size_t i, size_t j, const Inputs<Rows>& in) {
  const size_t k = args.k, lhs_stride = args.lhs_stride, rhs_stride = args.rhs_stride;
  const int8_t* lhs = args.lhs + i * lhs_stride;
  const int8_t* rhs = args.rhs + j * rhs_stride;
  const __m512i zero = _mm512_setzero_si512(), lift = _mm512_set1_epi8(-128);
  __m512i sum[Rows][Columns];
#pragma GCC unroll 4
  for (size_t v = 0; v < Columns; ++v) {
    const __m512i weights = _mm512_xor_si512(load_last(rhs + v * rhs_stride, k), lift);
#pragma GCC unroll 4
    for (size_t r = 0; r < Rows; ++r) sum[r][v] = _mm512_dpbusd_epi32(zero, weights, in.last[r]);
  }
  for (size_t c = 0; c + kStep <= k; c += kStep) {
    __m512i weights[Columns];
#pragma GCC unroll 4
    for (size_t v = 0; v < Columns; ++v) {
      weights[v] = _mm512_xor_si512(_mm512_loadu_si512(rhs + v * rhs_stride + c), lift);
    }
#pragma GCC unroll 4
    for (size_t r = 0; r < Rows; ++r) {
      const __m512i inputs = _mm512_loadu_si512(lhs + r * lhs_stride + c);
#pragma GCC unroll 4
      for (size_t v = 0; v < Columns; ++v) {
        sum[r][v] = _mm512_dpbusd_epi32(sum[r][v], weights[v], inputs);
      }
    }
  }
#pragma GCC unroll 4
  for (size_t r = 0; r < Rows; ++r) {
    const __m128i sums = _mm_sub_epi32(
        sums_of_lanes(sum[r][0], sum[r][1 % Columns], sum[r][2 % Columns], sum[r][3 % Columns]),
        in.offset[r]);
    memcpy(args.dst + (i + r) * args.dst_stride + j, &sums, Columns * sizeof(int32_t));
  }
}

template <size_t Rows>
void all_columns(const DotRowsArgs& args, size_t i) {
  const Inputs<Rows> in = prepare<Rows>(args, i);
  size_t j = 0;
  for (; j + 4 <= args.n; j += 4) tile<Rows, 4>(args, i, j, in);
  for (; j < args.n; ++j) tile<Rows, 1>(args, i, j, in);
}

}  // namespace

void dot_rows_avx512vnni(const DotRowsArgs& args) {
  size_t i = 0;
  for (; i + 4 <= args.m; i += 4) all_columns<4>(args, i);
  switch (args.m - i) {
    case 1:
      return all_columns<1>(args, i);
    case 2:
      return all_columns<2>(args, i);
    case 3:
      return all_columns<3>(args, i);
    default:
      return;
  }
}

}  // namespace embert
