// SPDX-License-Identifier: Apache-2.0
// Queries and context, 16 columns at a time, rows inside: multipliers stay in registers.
#include "kernels/arm/lanes_neon.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

template <bool kRight>
void run_lhs(RequantizeLhsArgs args) {  // a copy, which no store can change
  const int32x4_t count = shift_count(args.factor);
  for (size_t c = 0; c < args.n; c += 16) {
    const size_t left = args.n - c;
    const int32x4x4_t m = vld1q_s32_x4(args.factor.multiplier + c);
    for (size_t i = 0; i < args.m; ++i) {
      uint8_t* dst = args.dst + i * args.dst_stride + c;
      const uint8x16_t bytes = vreinterpretq_u8_s8(
          to_bytes(requantize16<kRight>(args.acc + i * args.acc_stride + c, m, count)));
      if (left >= 16) {
        vst1q_u8(dst, bytes);
      } else {
        store_first(dst, bytes, left);
        memset(dst + left, 0, pad_inputs(left) - left);
      }
    }
  }
}

// 4 columns of both planes: join_planes(), before the final factor.
EMBERT_INLINE int32x4_t join(int32x4_t high, int32x4_t low, int32x4_t reciprocal, int32x4_t z) {
  return vrsraq_n_s32(vqrdmulhq_s32(vshlq_s32(high, z), reciprocal),
                      vqrdmulhq_s32(vshlq_s32(low, z), reciprocal), 8);
}

template <bool kRight>
void run_context(RequantizeContextArgs args) {
  const int32x4_t count = shift_count(args.factor);
  const size_t columns = pad_columns(args.n);
  for (size_t c = 0; c < args.n; c += 16) {
    const size_t left = args.n - c;
    const int32x4x4_t m = vld1q_s32_x4(args.factor.multiplier + c);
    for (size_t i = 0; i < args.m; ++i) {
      const int32_t* acc = args.acc + i * args.acc_stride + c;
      int16_t* dst = args.dst + i * args.dst_stride + c;
      const int32x4_t r = vdupq_n_s32(args.row[i].value), z = vdupq_n_s32(23 - args.row[i].z);
      const int32x4x4_t high = vld1q_s32_x4(acc), low = vld1q_s32_x4(acc + columns);
      int32x4_t x[4];
#pragma GCC unroll 4
      for (size_t v = 0; v < 4; ++v) {
        x[v] = requantize<kRight>(join(high.val[v], low.val[v], r, z), m.val[v], count);
      }
      int16x8x2_t y;
#pragma GCC unroll 2
      for (size_t v = 0; v < 2; ++v) {
        y.val[v] =
            vmaxq_s16(vqmovn_high_s32(vqmovn_s32(x[2 * v]), x[2 * v + 1]), vdupq_n_s16(-32767));
      }
      if (left >= 16) {
        vst1q_s16_x2(dst, y);
      } else {
        store_first(dst, y, left);
      }
    }
  }
}

}  // namespace

void requantize_lhs_neon(const RequantizeLhsArgs& args) {
  if (args.factor.right != 0) {
    run_lhs<true>(args);
  } else {
    run_lhs<false>(args);
  }
}

void requantize_context_neon(const RequantizeContextArgs& args) {
  if (args.factor.right != 0) {
    run_context<true>(args);
  } else {
    run_context<false>(args);
  }
}

}  // namespace embert
