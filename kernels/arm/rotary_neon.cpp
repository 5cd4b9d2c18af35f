// SPDX-License-Identifier: Apache-2.0
// Rotary positions of 4 pairs of channels, tails by the reference arithmetic.
#include "kernels/arm/lanes_neon.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

EMBERT_INLINE int16x4_t to_16_bits(int32x4_t x) {
  return vmax_s16(vqmovn_s32(x), vdup_n_s16(-32767));
}

template <bool kRight>
void run(RotateArgs args) {  // a copy, which no store can change
  const int32x4_t count = shift_count(args.factor);
  const size_t half = args.n / 2;
  size_t i = 0;
  for (; i + 4 <= half; i += 4) {
    const int32x4_t ma = vld1q_s32(args.factor.multiplier + i);
    const int32x4_t mb = vld1q_s32(args.factor.multiplier + half + i);
    for (size_t t = 0; t < args.m; ++t) {
      int32_t* acc = args.acc + t * args.acc_stride + i;
      const int16_t* angles = args.angles + t * args.n + i;
      const int16x4_t a = to_16_bits(requantize<kRight>(vld1q_s32(acc), ma, count));
      const int16x4_t b = to_16_bits(requantize<kRight>(vld1q_s32(acc + half), mb, count));
      const int16x4_t cosine = vld1_s16(angles), sine = vld1_s16(angles + half);
      vst1q_s32(acc, vrshrq_n_s32(vmlsl_s16(vmull_s16(a, cosine), b, sine), 14));
      vst1q_s32(acc + half, vrshrq_n_s32(vmlal_s16(vmull_s16(b, cosine), a, sine), 14));
    }
  }
  for (; i < half; ++i) {
    for (size_t t = 0; t < args.m; ++t) {
      rotate_columns(args.factor, args.acc + t * args.acc_stride, args.angles + t * args.n, i,
                     half);
    }
  }
}

}  // namespace

void rotate_neon(const RotateArgs& args) {
  if (args.factor.right != 0) {
    run<true>(args);
  } else {
    run<false>(args);
  }
}

}  // namespace embert
