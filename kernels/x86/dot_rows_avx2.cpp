// SPDX-License-Identifier: Apache-2.0
// Tiles of 2 rows x 4 table rows, 16 columns a step. Loads widen both operands to 16 bits; 8 sums,
// 2 inputs and 1 weight are in registers. The sums start with the last 16 columns, with zeros for
// the inputs that whole steps count.
#include "kernels/variants.hpp"
#include "kernels/x86/lanes_avx2.hpp"

namespace embert {
namespace {

constexpr size_t kStep = 16;

EMBERT_INLINE __m256i widen(const int8_t* p) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
// The last columns of a row of k. A row shorter than a step gets zeros in front.
EMBERT_INLINE __m256i widen_last(const int8_t* row, size_t k) {
  if (k >= kStep) return widen(row + k - kStep);
  int8_t copy[kStep] = {};
  memcpy(copy + kStep - k, row, k);
  return widen(copy);
}
// Keeps the last left lanes of 16, the others become 0.
EMBERT_INLINE __m256i only_last(__m256i x, size_t left) {
  const __m256i lane = _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m256i counted = _mm256_set1_epi16(static_cast<int16_t>(kStep - left));
  return _mm256_andnot_si256(_mm256_cmpgt_epi16(counted, lane), x);
}

// One tile. last: the inputs of the last columns, one vector a row.
template <size_t Rows, size_t Columns>
[[gnu::noinline]] void tile(const DotRowsArgs& args, size_t i, size_t j, const __m256i* last) {
  const size_t k = args.k, lhs_stride = args.lhs_stride, rhs_stride = args.rhs_stride;
  const int8_t* lhs = args.lhs + i * lhs_stride;
  const int8_t* rhs = args.rhs + j * rhs_stride;
  __m256i sum[Rows][Columns];
#pragma GCC unroll 4
  for (size_t v = 0; v < Columns; ++v) {
    const __m256i weights = widen_last(rhs + v * rhs_stride, k);
#pragma GCC unroll 2
    for (size_t r = 0; r < Rows; ++r) sum[r][v] = _mm256_madd_epi16(last[r], weights);
  }
  for (size_t c = 0; c + kStep <= k; c += kStep) {
    __m256i inputs[Rows];
#pragma GCC unroll 2
    for (size_t r = 0; r < Rows; ++r) inputs[r] = widen(lhs + r * lhs_stride + c);
#pragma GCC unroll 4
    for (size_t v = 0; v < Columns; ++v) {
      const __m256i weights = widen(rhs + v * rhs_stride + c);
#pragma GCC unroll 2
      for (size_t r = 0; r < Rows; ++r) {
        sum[r][v] = _mm256_add_epi32(sum[r][v], _mm256_madd_epi16(inputs[r], weights));
      }
    }
  }
#pragma GCC unroll 2
  for (size_t r = 0; r < Rows; ++r) {
    const __m128i sums =
        sums_of_lanes(sum[r][0], sum[r][1 % Columns], sum[r][2 % Columns], sum[r][3 % Columns]);
    memcpy(args.dst + (i + r) * args.dst_stride + j, &sums, Columns * sizeof(int32_t));
  }
}

template <size_t Rows>
void all_columns(const DotRowsArgs& args, size_t i) {
  __m256i last[Rows];
  for (size_t r = 0; r < Rows; ++r) {
    last[r] = only_last(widen_last(args.lhs + (i + r) * args.lhs_stride, args.k), args.k % kStep);
  }
  size_t j = 0;
  for (; j + 4 <= args.n; j += 4) tile<Rows, 4>(args, i, j, last);
  for (; j < args.n; ++j) tile<Rows, 1>(args, i, j, last);
}

}  // namespace

void dot_rows_avx2(const DotRowsArgs& args) {
  size_t i = 0;
  for (; i + 2 <= args.m; i += 2) all_columns<2>(args, i);
  if (i < args.m) all_columns<1>(args, i);
}

}  // namespace embert
