// SPDX-License-Identifier: Apache-2.0
// Products of rows in tiles of 2 rows x 4 table rows, 16 columns a step. The sums start with the
// last 16 columns, with zeros for the inputs that whole steps count. Products::add(sum, a, b) adds
// 16 products to 4 sums.
#pragma once

#include "kernels/arm/lanes_neon.hpp"
#include "kernels/contracts/dot_rows.hpp"

namespace embert {
namespace {

constexpr size_t kStep = 16;

// The last columns of a row of k. A row shorter than a step gets zeros in front.
EMBERT_INLINE int8x16_t load_last(const int8_t* row, size_t k) {
  if (k >= kStep) return vld1q_s8(row + k - kStep);
  int8_t copy[kStep] = {};
  memcpy(copy + kStep - k, row, k);
  return vld1q_s8(copy);
}
// Keeps the last left lanes of 16, the others become 0.
EMBERT_INLINE int8x16_t only_last(int8x16_t x, size_t left) {
  const uint8x16_t lane =
      vcombine_u8(vcreate_u8(0x0706050403020100), vcreate_u8(0x0f0e0d0c0b0a0908));
  const uint8x16_t counted = vcgeq_u8(lane, vdupq_n_u8(static_cast<uint8_t>(kStep - left)));
  return vandq_s8(x, vreinterpretq_s8_u8(counted));
}

// One tile. last: the inputs of the last columns, one vector a row.
template <typename Products, size_t Rows, size_t Columns>
[[gnu::noinline]] void tile(const DotRowsArgs& args, size_t i, size_t j, const int8x16_t* last) {
  const size_t k = args.k, lhs_stride = args.lhs_stride, rhs_stride = args.rhs_stride;
  const int8_t* lhs = args.lhs + i * lhs_stride;
  const int8_t* rhs = args.rhs + j * rhs_stride;
  int32x4_t sum[Rows][Columns];
#pragma GCC unroll 4
  for (size_t v = 0; v < Columns; ++v) {
    const int8x16_t weights = load_last(rhs + v * rhs_stride, k);
#pragma GCC unroll 2
    for (size_t r = 0; r < Rows; ++r) {
      sum[r][v] = Products::add(vdupq_n_s32(0), last[r], weights);
    }
  }
  for (size_t c = 0; c + kStep <= k; c += kStep) {
    int8x16_t inputs[Rows];
#pragma GCC unroll 2
    for (size_t r = 0; r < Rows; ++r) inputs[r] = vld1q_s8(lhs + r * lhs_stride + c);
#pragma GCC unroll 4
    for (size_t v = 0; v < Columns; ++v) {
      const int8x16_t weights = vld1q_s8(rhs + v * rhs_stride + c);
#pragma GCC unroll 2
      for (size_t r = 0; r < Rows; ++r) sum[r][v] = Products::add(sum[r][v], inputs[r], weights);
    }
  }
#pragma GCC unroll 2
  for (size_t r = 0; r < Rows; ++r) {
    const int32x4_t ab = vpaddq_s32(sum[r][0], sum[r][1 % Columns]);
    const int32x4_t cd = vpaddq_s32(sum[r][2 % Columns], sum[r][3 % Columns]);
    const int32x4_t sums = vpaddq_s32(ab, cd);
    memcpy(args.dst + (i + r) * args.dst_stride + j, &sums, Columns * sizeof(int32_t));
  }
}

template <typename Products, size_t Rows>
void all_columns(const DotRowsArgs& args, size_t i) {
  int8x16_t last[Rows];
  for (size_t r = 0; r < Rows; ++r) {
    last[r] = only_last(load_last(args.lhs + (i + r) * args.lhs_stride, args.k), args.k % kStep);
  }
  size_t j = 0;
  for (; j + 4 <= args.n; j += 4) tile<Products, Rows, 4>(args, i, j, last);
  for (; j < args.n; ++j) tile<Products, Rows, 1>(args, i, j, last);
}

template <typename Products>
void dot_rows(const DotRowsArgs& args) {
  size_t i = 0;
  for (; i + 2 <= args.m; i += 2) all_columns<Products, 2>(args, i);
  if (i < args.m) all_columns<Products, 1>(args, i);
}

}  // namespace
}  // namespace embert
