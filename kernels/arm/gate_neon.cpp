// SPDX-License-Identifier: Apache-2.0
// Gate of 16 columns at a time with a loop over the rows inside; tails by the reference arithmetic.
#include "kernels/arm/lanes_neon.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

EMBERT_INLINE int16x8_t gated(int16x8_t value, int16x8_t gate, int32x4_t count) {
  const int32x4_t low = vmull_s16(vget_low_s16(value), vget_low_s16(gate));
  const int32x4_t high = vmull_s16(vget_high_s16(value), vget_high_s16(gate));
  const int16x8_t packed =
      vqmovn_high_s32(vqmovn_s32(vrshlq_s32(low, count)), vrshlq_s32(high, count));
  return vmaxq_s16(packed, vdupq_n_s16(-32767));
}

template <bool kRight>
void run(RequantizeGateArgs args) {  // a copy, which no store can change
  const int32x4_t count = shift_count(args.factor), shift = vdupq_n_s32(-args.shift);
  const int16x8_t offset = vdupq_n_s16(static_cast<int16_t>(args.offset));
  const int16x8_t lowest = vdupq_n_s16(-32767);
  size_t c = 0;
  for (; c + 16 <= args.n; c += 16) {
    const int32x4x4_t m = vld1q_s32_x4(args.factor.multiplier + c);
    for (size_t i = 0; i < args.m; ++i) {
      int16_t* values = args.values + i * args.stride + c;
      int16x8x2_t gate = requantize16<kRight>(args.acc + i * args.acc_stride + c, m, count);
      int16x8x2_t u = vld1q_s16_x2(values);
#pragma GCC unroll 2
      for (size_t v = 0; v < 2; ++v) {
        u.val[v] = gated(vsubq_s16(u.val[v], offset), vmaxq_s16(gate.val[v], lowest), shift);
      }
      store16(values, u);
    }
  }
  for (; c < args.n; ++c) {
    for (size_t i = 0; i < args.m; ++i) {
      int16_t* value = args.values + i * args.stride + c;
      const int32_t gate = clamp<int32_t>(
          requantize_column(args.factor, args.acc + i * args.acc_stride, c), -32767, 32767);
      *value = static_cast<int16_t>(gated_value(*value, args.offset, gate, args.shift));
    }
  }
}

}  // namespace

void requantize_gate_neon(const RequantizeGateArgs& args) {
  if (args.factor.right != 0) {
    run<true>(args);
  } else {
    run<false>(args);
  }
}

}  // namespace embert
