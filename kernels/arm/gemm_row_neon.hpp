// SPDX-License-Identifier: Apache-2.0
// One row with half a panel, in intrinsics: for the last row, which no tile of two rows covers.
#pragma once

#include "kernels/arithmetic/layout.hpp"
#include "kernels/arm/lanes_neon.hpp"

namespace embert {
namespace {

constexpr size_t kHalf = 8;  // columns

// The right operand of one panel.
struct Panel {
  const int8_t* rhs;  // [steps][16][4]
  size_t steps;
  const int32_t* start;  // [16][2], the start of the sums: a column's second lane is 0
};

// The sums of one row: 4 x 2 columns, two lanes a column.
struct RowSums {
  int32x4_t pair[4];
};

EMBERT_INLINE RowSums load_start(const int32_t* start) {
  return {{vld1q_s32(start), vld1q_s32(start + 4), vld1q_s32(start + 8), vld1q_s32(start + 12)}};
}

// The inputs of a step, repeated four times; unaligned.
EMBERT_INLINE int8x16_t load_step(const uint8_t* inputs) {
  int32_t word;
  memcpy(&word, inputs, sizeof(word));
  return vreinterpretq_s8_s32(vdupq_n_s32(word));
}

// Adds the products of two steps.
EMBERT_INLINE void add_two(const uint8_t* lhs, const int8_t* weights, RowSums* sums) {
  const int8x16_t x0 = load_step(lhs), x1 = load_step(lhs + kStepInputs);
#pragma GCC unroll 2
  for (size_t v = 0; v < 2; ++v) {
    const int8x16_t w0 = vld1q_s8(weights + 16 * v), w1 = vld1q_s8(weights + kStepBytes + 16 * v);
    const int16x8_t low = vmull_s8(vget_low_s8(x0), vget_low_s8(w0));
    const int16x8_t high = vmull_high_s8(x0, w0);
    int32x4_t* pair = sums->pair + 2 * v;
    pair[0] = vpadalq_s16(pair[0], vmlal_s8(low, vget_low_s8(x1), vget_low_s8(w1)));
    pair[1] = vpadalq_s16(pair[1], vmlal_high_s8(high, x1, w1));
  }
}

// Adds the products of one step.
EMBERT_INLINE void add_one(const uint8_t* lhs, const int8_t* weights, RowSums* sums) {
  const int8x8_t x = vget_low_s8(load_step(lhs));
#pragma GCC unroll 4
  for (size_t v = 0; v < 4; ++v) {
    sums->pair[v] = vpadalq_s16(sums->pair[v], vmull_s8(x, vld1_s8(weights + 8 * v)));
  }
}

EMBERT_INLINE void store(const RowSums& sums, int32_t* dst) {
  vst1q_s32(dst, vpaddq_s32(sums.pair[0], sums.pair[1]));
  vst1q_s32(dst + 4, vpaddq_s32(sums.pair[2], sums.pair[3]));
}

}  // namespace
}  // namespace embert
