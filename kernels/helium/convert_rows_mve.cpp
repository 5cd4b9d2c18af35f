// SPDX-License-Identifier: Apache-2.0
// 16 bits to 8, or to two planes of 8, 8 columns at a time in 16-bit lanes. The planes' sums are
// joined in 32 bits where no lane can overflow; Helium has no lanes of 64.
#include "kernels/helium/lanes_mve.hpp"
#include "kernels/variants.hpp"

namespace embert {
void convert_s8_s16_mve(const ConvertS8S16Args& all) {
  const ConvertS8S16Args args = all;  // a copy, which no store can change
  const int16x8_t highest = vdupq_n_s16(127), lowest = vdupq_n_s16(-127);
  for (size_t i = 0; i < args.m; ++i) {
    const int16_t* src = args.src + i * args.src_stride;
    uint8_t* dst = args.dst + i * args.dst_stride;
    by_eights(args.k, [&](size_t c, auto lanes) {
      const int16x8_t x = vrshrq_n_s16(load8(src + c, lanes), 7);
      store8(dst + c, vmaxq_s16(vminq_s16(x, highest), lowest), lanes);
    });
  }
}

void convert_s8x2_s16_mve(const ConvertS8x2S16Args& all) {
  const ConvertS8x2S16Args args = all;  // a copy, which no store can change
  const int16x8_t highest = vdupq_n_s16(kValueBound), lowest = vdupq_n_s16(-kValueBound);
  const int16x8_t least = vdupq_n_s16(-127), flip = vdupq_n_s16(args.flip);
  for (size_t i = 0; i < args.m; ++i) {
    const int16_t* src = args.src + i * args.src_stride;
    uint8_t* high = args.dst + 2 * i * args.dst_stride;
    uint8_t* low = high + args.dst_stride;
    for (size_t c = 0; c < args.k; c += 8) {
      const FirstLanes lanes = {args.k - c};
      const int16x8_t v = vmaxq_s16(vminq_s16(load8(src + c, lanes), highest), lowest);
      const int16x8_t h = vshrq_n_s16(vaddq_n_s16(v, 128), 8);
      const int16x8_t l = vmaxq_s16(vsubq_s16(v, vshlq_n_s16(h, 8)), least);
      store8(high + c, veorq_s16(h, flip), lanes);
      store8(low + c, veorq_s16(l, flip), lanes);
    }
  }
}

void convert_s32_s32x2_mve(const ConvertS32S32x2Args& all) {
  const ConvertS32S32x2Args args = all;  // a copy, which no store can change
  const int32_t left = 8 - args.join_shift;
  const int32x4_t high_bits = vdupq_n_s32(join_high_bits(args.join_shift));
  const int32x4_t low_bits = vdupq_n_s32(kJoinLowBits);
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* high = args.acc + 2 * i * args.acc_stride;
    const int32_t* low = high + args.acc_stride;
    int32_t* dst = args.dst + i * args.dst_stride;
    for (size_t c = 0; c < args.n; c += 4) {
      const mve_pred16_t columns = vctp32q(args.n - c);
      const int32x4_t h = vldrwq_z_s32(high + c, columns), l = vldrwq_z_s32(low + c, columns);
      const int32x4_t b =
          args.bias != nullptr ? vldrwq_z_s32(args.bias + c, columns) : vdupq_n_s32(0);
      const int32x4_t beyond =
          vorrq_s32(vandq_s32(vabsq_s32(h), high_bits),
                    vandq_s32(vorrq_s32(vabsq_s32(l), vabsq_s32(b)), low_bits));
      if (vmaxvq_u32(0, vreinterpretq_u32_s32(beyond)) != 0) {
        ConvertS32S32x2Args four = args;
        four.m = 1, four.n = args.n - c < 4 ? args.n - c : 4;
        four.acc = high + c, four.dst = dst + c;
        if (four.bias != nullptr) four.bias += c;
        convert_s32_s32x2_scalar(four);
        continue;
      }
      const int32x4_t rounded = vrshlq_n_s32(l, -args.join_shift);
      vstrwq_p_s32(dst + c, vaddq_s32(vaddq_s32(vshlq_r_s32(h, left), rounded), b), columns);
    }
  }
}

}  // namespace embert
