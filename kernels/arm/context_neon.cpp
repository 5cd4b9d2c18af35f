// SPDX-License-Identifier: Apache-2.0
// Context of 16 columns at a time with a loop over the rows inside, so that multipliers stay in
// registers; tails by the reference arithmetic. About 46 instructions for 16 elements.
#include "kernels/arm/lanes_neon.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

// join_planes() of 4 columns.
EMBERT_INLINE int32x4_t join(int32x4_t high, int32x4_t low, int32x4_t reciprocal, int32x4_t z) {
  return vrsraq_n_s32(vqrdmulhq_s32(vshlq_s32(high, z), reciprocal),
                      vqrdmulhq_s32(vshlq_s32(low, z), reciprocal), 8);
}

template <bool kRight>
void run(RequantizeContextArgs args) {
  const int32x4_t count = shift_count(args.factor);
  const int16x8_t lowest = vdupq_n_s16(-32767);
  const size_t columns = pad_columns(args.n);
  size_t c = 0;
  for (; c + 16 <= args.n; c += 16) {
    const int32x4x4_t m = vld1q_s32_x4(args.factor.multiplier + c);
#pragma GCC unroll 2
    for (size_t i = 0; i < args.m; ++i) {
      const int32_t* acc = args.acc + i * args.acc_stride + c;
      const int32x4_t r = vdupq_n_s32(args.row[i].value), z = vdupq_n_s32(23 - args.row[i].z);
      const int32x4x4_t high = vld1q_s32_x4(acc), low = vld1q_s32_x4(acc + columns);
      int32x4_t x[4];
#pragma GCC unroll 4
      for (size_t v = 0; v < 4; ++v) {
        x[v] = requantize<kRight>(join(high.val[v], low.val[v], r, z), m.val[v], count);
      }
      const int16x8x2_t y = {{vmaxq_s16(vqmovn_high_s32(vqmovn_s32(x[0]), x[1]), lowest),
                              vmaxq_s16(vqmovn_high_s32(vqmovn_s32(x[2]), x[3]), lowest)}};
      store16(args.dst + i * args.dst_stride + c, y);
    }
  }
  for (; c < args.n; ++c) {
    for (size_t i = 0; i < args.m; ++i) {
      const int32_t* acc = args.acc + i * args.acc_stride;
      const int32_t joined = join_planes(acc[c], acc[columns + c], args.row[i]);
      const int32_t value = embert::requantize(joined, args.factor.multiplier[c], args.factor.left,
                                               args.factor.right);
      args.dst[i * args.dst_stride + c] = static_cast<int16_t>(clamp(value, -32767, 32767));
    }
  }
}

}  // namespace

void requantize_context_neon(const RequantizeContextArgs& args) {
  if (args.factor.right != 0) {
    run<true>(args);
  } else {
    run<false>(args);
  }
}

}  // namespace embert
