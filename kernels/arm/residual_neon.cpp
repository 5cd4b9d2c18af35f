// SPDX-License-Identifier: Apache-2.0
// Residual sum of 16 columns at a time with a loop over the rows inside; tails by the reference
// arithmetic. The halving add has 33 bits, in which the product needs no clamp (kernels/README.md);
// the bit that it drops lies below the rounding of the last shift. About 43 instructions for 16
// elements.
#include "kernels/arm/lanes_neon.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

struct Columns {
  int32x4x4_t multiplier, residual, constant;
  int32x4_t count;  // of the shift
};

// Half the sum of 4 columns before the last shift. carried is the residual times 2^15.
template <bool kRight>
EMBERT_INLINE int32x4_t half_sum(int32x4_t x, int32x4_t carried, int32x4_t row_max,
                                 const Columns& k, size_t v) {
  const int32x4_t w = requantize<kRight>(x, k.multiplier.val[v], k.count);
  return vhaddq_s32(vqrdmulhq_s32(w, row_max),
                    vaddq_s32(vqrdmulhq_s32(carried, k.residual.val[v]), k.constant.val[v]));
}

template <bool kRight>
void run(RequantizeResidualArgs args) {  // a copy, which no store can change
  const int32x4_t count = shift_count(args.factor);
  size_t c = 0;
  for (; c + 16 <= args.n; c += 16) {
    const Columns k = {vld1q_s32_x4(args.factor.multiplier + c),
                       vld1q_s32_x4(args.residual_multiplier + c), vld1q_s32_x4(args.constant + c),
                       count};
    for (size_t i = 0; i < args.m; ++i) {
      const int32x4_t row_max = vshlq_n_s32(vld1q_dup_s32(args.row_max + i), 16);
      const int32x4x4_t x = vld1q_s32_x4(args.acc + i * args.acc_stride + c);
      const int16x8x2_t t = vld1q_s16_x2(args.residual + i * args.dst_stride + c);
      int16x8x2_t y;
#pragma GCC unroll 2
      for (size_t v = 0; v < 2; ++v) {
        const int32x4_t first = vshll_n_s16(vget_low_s16(t.val[v]), 15);
        const int32x4_t second = vshll_high_n_s16(t.val[v], 15);
        y.val[v] = vqrshrn_high_n_s32(
            vqrshrn_n_s32(half_sum<kRight>(x.val[2 * v], first, row_max, k, 2 * v), 3),
            half_sum<kRight>(x.val[2 * v + 1], second, row_max, k, 2 * v + 1), 3);
      }
      store16(args.dst + i * args.dst_stride + c, y);
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
