// SPDX-License-Identifier: Apache-2.0
// VPDPBUSD on 256 bits, tiles of 2 rows x 4 table rows: 8 sums, 2 inputs and 1 weight in registers.
// The table's bytes become unsigned, w + 128, when they are loaded; 128 times the sum of the inputs
// is subtracted at the end. The sums start with the last 32 columns, with zeros for the inputs that
// whole steps count.
#if !defined(__AVXVNNI__)
#error "this file needs the flags of avxvnni (kernels/sources.cmake)"
#endif
#include "kernels/variants.hpp"
#include "kernels/x86/lanes_avx2.hpp"

namespace embert {
namespace {

constexpr size_t kStep = 32;

// The last columns of a row of k. A row shorter than a step gets zeros in front.
EMBERT_INLINE __m256i load_last(const int8_t* row, size_t k) {
  if (k >= kStep) return load(row + k - kStep);
  int8_t copy[kStep] = {};
  memcpy(copy + kStep - k, row, k);
  return load(copy);
}
// Keeps the last left lanes of 32, the others become 0.
EMBERT_INLINE __m256i only_last(__m256i x, size_t left) {
  const __m256i lane = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
                                        17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
  const __m256i counted = _mm256_set1_epi8(static_cast<int8_t>(kStep - left));
  return _mm256_andnot_si256(_mm256_cmpgt_epi8(counted, lane), x);
}

// The parts of some rows that are the same for all rows of the table.
template <size_t Rows>
struct Inputs {
  __m256i last[Rows];    // the last columns
  __m128i offset[Rows];  // 128 * sum of the row, in all lanes
};

template <size_t Rows>
Inputs<Rows> prepare(const DotRowsArgs& args, size_t i) {
  Inputs<Rows> in;
  const __m256i zero = _mm256_setzero_si256(), half = _mm256_set1_epi8(-128);  // 128, unsigned
  for (size_t r = 0; r < Rows; ++r) {
    const int8_t* lhs = args.lhs + (i + r) * args.lhs_stride;
    in.last[r] = only_last(load_last(lhs, args.k), args.k % kStep);
    __m256i sum = _mm256_dpbusd_avx_epi32(zero, half, in.last[r]);
    for (size_t c = 0; c + kStep <= args.k; c += kStep) {
      sum = _mm256_dpbusd_avx_epi32(sum, half, load(lhs + c));
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
  const __m256i zero = _mm256_setzero_si256(), lift = _mm256_set1_epi8(-128);
  __m256i sum[Rows][Columns];
#pragma GCC unroll 4
  for (size_t v = 0; v < Columns; ++v) {
    const __m256i weights = _mm256_xor_si256(load_last(rhs + v * rhs_stride, k), lift);
#pragma GCC unroll 2
    for (size_t r = 0; r < Rows; ++r) {
      sum[r][v] = _mm256_dpbusd_avx_epi32(zero, weights, in.last[r]);
    }
  }
  for (size_t c = 0; c + kStep <= k; c += kStep) {
    __m256i inputs[Rows];
#pragma GCC unroll 2
    for (size_t r = 0; r < Rows; ++r) inputs[r] = load(lhs + r * lhs_stride + c);
#pragma GCC unroll 4
    for (size_t v = 0; v < Columns; ++v) {
      const __m256i weights = _mm256_xor_si256(load(rhs + v * rhs_stride + c), lift);
#pragma GCC unroll 2
      for (size_t r = 0; r < Rows; ++r) {
        sum[r][v] = _mm256_dpbusd_avx_epi32(sum[r][v], weights, inputs[r]);
      }
    }
  }
#pragma GCC unroll 2
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

void dot_rows_avxvnni(const DotRowsArgs& args) {
  size_t i = 0;
  for (; i + 2 <= args.m; i += 2) all_columns<2>(args, i);
  if (i < args.m) all_columns<1>(args, i);
}

}  // namespace embert
