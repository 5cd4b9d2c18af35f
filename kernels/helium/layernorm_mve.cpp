// SPDX-License-Identifier: Apache-2.0
// LayerNorm: first exact sums, 8 columns at a time, those of squares in 64 bits; then 4 columns at
// a time. n v - s1 is computed already shifted, as v (n 2^z) - s1 2^z modulo 2^32; the difference
// fits 32 bits.
#include "kernels/helium/lanes_mve.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

EMBERT_INLINE LayerNormRow prepare_row(const LayerNormArgs& args, const int16_t* src) {
  int32_t s1 = 0;
  int64_t s2 = 0;
  by_eights(args.n, [&](size_t c, auto lanes) {
    const int16x8_t v = load8(src + c, lanes);
    s1 = vaddvaq_s16(s1, v);
    s2 = vmlaldavaq_s16(s2, v, v);
  });
  return layernorm_row(s1, s2, args.epsilon_n2, static_cast<int32_t>(args.n));
}

}  // namespace

void layernorm_s16_mve(const LayerNormArgs& all) {
  const LayerNormArgs args = all;  // a copy, which no store can change
  for (size_t i = 0; i < args.m; ++i) {
    const int16_t* src = args.src + i * args.stride;
    int16_t* dst = args.dst + i * args.stride;
    const LayerNormRow row = prepare_row(args, src);
    const int32_t factor = static_cast<int32_t>(args.n << row.pre_shift);
    const int32x4_t minus_sum =
        vdupq_n_s32(static_cast<int32_t>(0u - (static_cast<uint32_t>(row.s1) << row.pre_shift)));
    by_fours(args.n, [&](size_t c, auto lanes) {
      const int32x4_t centred = vmlaq_n_s32(minus_sum, load4(src + c, lanes), factor);
      const int32x4_t normal_q21 = vrshlq_n_s32(vqrdmulhq_n_s32(centred, row.y_q30), -row.shift);
      const int32x4_t scaled =
          vqrdmulhq_s32(vshlq_n_s32(normal_q21, 3), load4(args.gain + c, lanes));
      const int32x4_t sum = vaddq_s32(scaled, load4(args.bias + c, lanes));
      store4(dst + c, saturate16(vrshlq_n_s32(sum, 7 - args.shift)), lanes);
    });
  }
}

}  // namespace embert
