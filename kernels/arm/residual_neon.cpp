// SPDX-License-Identifier: Apache-2.0
// Residual sum of 16 columns at a time with a loop over the rows inside; tails by the reference
// arithmetic. The halving add has 33 bits, in which the product needs no clamp (kernels/README.md);
// the bit that it drops lies below the rounding of the last shift. Two rows a turn share the load
// of their maxima. About 40 instructions for 16 elements.
#include "kernels/arm/lanes_neon.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

struct Columns {
  int32x4_t multiplier[4], residual[4], constant[4];
  int32x4_t count;  // of the shift
};

// Half the sum of 4 columns before the last shift. carried is the residual times 2^15.
template <bool kRight, int kRow>
EMBERT_INLINE int32x4_t half_sum(int32x4_t x, int32x4_t carried, int32x2_t row_max,
                                 const Columns& k, size_t v) {
  const int32x4_t w = requantize<kRight>(x, k.multiplier[v], k.count);
  return vhaddq_s32(vqrdmulhq_lane_s32(w, row_max, kRow),
                    vaddq_s32(vqrdmulhq_s32(carried, k.residual[v]), k.constant[v]));
}

// 16 columns of the row whose maximum, times 2^16, is lane kRow of row_max.
template <bool kRight, int kRow>
EMBERT_INLINE void add_row(const int32_t* acc, const int16_t* residual, int32x2_t row_max,
                           const Columns& k, int16_t* dst) {
  const int32x4x4_t x = vld1q_s32_x4(acc);
  const int16x8x2_t t = vld1q_s16_x2(residual);
  int32x4_t half[4];
#pragma GCC unroll 2
  for (size_t v = 0; v < 2; ++v) {
    const int32x4_t low = vshll_n_s16(vget_low_s16(t.val[v]), 15);
    const int32x4_t high = vshll_high_n_s16(t.val[v], 15);
    half[2 * v] = half_sum<kRight, kRow>(x.val[2 * v], low, row_max, k, 2 * v);
    half[2 * v + 1] = half_sum<kRight, kRow>(x.val[2 * v + 1], high, row_max, k, 2 * v + 1);
  }
  store16(dst, {{vqrshrn_high_n_s32(vqrshrn_n_s32(half[0], 3), half[1], 3),
                 vqrshrn_high_n_s32(vqrshrn_n_s32(half[2], 3), half[3], 3)}});
}

template <bool kRight>
void run(RequantizeResidualArgs args) {  // a copy, which no store can change
  const size_t stride = args.dst_stride;
  size_t c = 0;
  for (; c + 16 <= args.n; c += 16) {
    Columns k;
    k.count = shift_count(args.factor);
#pragma GCC unroll 4
    for (size_t v = 0; v < 4; ++v) {
      k.multiplier[v] = vld1q_s32(args.factor.multiplier + c + 4 * v);
      k.residual[v] = vld1q_s32(args.residual_multiplier + c + 4 * v);
      k.constant[v] = vld1q_s32(args.constant + c + 4 * v);
    }
    const int32_t* acc = args.acc + c;
    const int16_t* residual = args.residual + c;
    int16_t* dst = args.dst + c;
    const int32_t* row_max = args.row_max;
    for (; row_max != args.row_max + args.m / 2 * 2; row_max += 2) {
      const int32x2_t max = vshl_n_s32(vld1_s32(row_max), 16);
      add_row<kRight, 0>(acc, residual, max, k, dst);
      add_row<kRight, 1>(acc + args.acc_stride, residual + stride, max, k, dst + stride);
      acc += 2 * args.acc_stride, residual += 2 * stride, dst += 2 * stride;
    }
    if (args.m % 2 != 0) {
      add_row<kRight, 0>(acc, residual, vdup_n_s32(*row_max * 65536), k, dst);
    }
  }
  for (; c < args.n; ++c) {
    for (size_t i = 0; i < args.m; ++i) {
      const size_t at = i * args.dst_stride + c;
      args.dst[at] = static_cast<int16_t>(residual_sum(
          requantize_column(args.factor, args.acc + i * args.acc_stride, c), args.row_max[i],
          args.residual[at], args.residual_multiplier[c], args.constant[c]));
    }
  }
}

}  // namespace

void requantize_residual_neon(const RequantizeResidualArgs& args) {
  if (args.factor.right != 0) {
    run<true>(args);
  } else {
    run<false>(args);
  }
}

}  // namespace embert
