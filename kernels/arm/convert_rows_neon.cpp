// SPDX-License-Identifier: Apache-2.0
// 16 bits to 8, one saturating rounding shift. 17 instructions for 64 elements. Planes are
// the upper and the lower bytes, 14 instructions for 16 columns. Their sums are joined in 64-bit
// lanes, 12 instructions for 4. The scalar kernel does the tails of all rows.
#include "kernels/arm/row_to_bytes_neon.hpp"
#include "kernels/variants.hpp"

namespace embert {

void convert_s8_s16_neon(const ConvertS8S16Args& args) {
  const int8x16_t lowest = vdupq_n_s8(-127);
  const bool together =
      args.src_stride == args.k && args.dst_stride == args.k;  // so the rows are one long row
  const size_t m = together ? 1 : args.m, k = together ? args.m * args.k : args.k;
  for (size_t i = 0; i < m; ++i) {
    row_to_bytes(
        args.src + i * args.src_stride, k, args.dst + i * args.dst_stride,
        [&](int16x8_t a, int16x8_t b) {
          const int8x16_t bytes = vqrshrn_high_n_s16(vqrshrn_n_s16(a, 7), b, 7);
          return vreinterpretq_u8_s8(vmaxq_s8(bytes, lowest));
        },
        [](int32_t x) { return sat8(shift_round(x, 7)); });
  }
}

void convert_s8x2_s16_neon(const ConvertS8x2S16Args& all) {
  const ConvertS8x2S16Args args = all;  // a copy, which no store can change
  const int16x8_t highest = vdupq_n_s16(kValueBound), lowest = vdupq_n_s16(-kValueBound);
  const int16x8_t half = vdupq_n_s16(128);
  const uint8x16_t flip = vdupq_n_u8(args.flip);
  const size_t whole = args.k / 16 * 16;
  const auto load = [&](const int16_t* p) {
    return vmaxq_s16(vminq_s16(vld1q_s16(p), highest), lowest);
  };
  const auto bytes = [](int16x8_t x) { return vreinterpretq_u8_s16(x); };
  for (size_t i = 0; i < args.m; ++i) {
    const int16_t* src = args.src + i * args.src_stride;
    uint8_t* high = args.dst + 2 * i * args.dst_stride;
    uint8_t* low = high + args.dst_stride;
    for (size_t c = 0; c < whole; c += 16) {
      const int16x8_t a = load(src + c), b = load(src + c + 8);
      const uint8x16_t h = vuzp2q_u8(bytes(vaddq_s16(a, half)), bytes(vaddq_s16(b, half)));
      const int8x16_t l = vreinterpretq_s8_u8(vuzp1q_u8(bytes(a), bytes(b)));
      vst1q_u8(high + c, veorq_u8(h, flip));
      vst1q_u8(low + c, veorq_u8(vreinterpretq_u8_s8(vmaxq_s8(l, vdupq_n_s8(-127))), flip));
    }
  }
  if (whole == args.k) return;
  ConvertS8x2S16Args tail = args;
  tail.k -= whole, tail.src += whole, tail.dst += whole;
  convert_s8x2_s16_scalar(tail);
}

void convert_s32_s32x2_neon(const ConvertS32S32x2Args& all) {
  const ConvertS32S32x2Args args = all;  // a copy, which no store can change
  const int64x2_t shift = vdupq_n_s64(-args.join_shift);
  const size_t whole = args.n / 4 * 4;
  const auto join = [&](int32x2_t high, int32x2_t low, int32x2_t bias) {
    const int64x2_t sum = vrshlq_s64(vaddw_s32(vshll_n_s32(high, 8), low), shift);
    return vqmovn_s64(vaddw_s32(sum, bias));
  };
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* high = args.acc + 2 * i * args.acc_stride;
    const int32_t* low = high + args.acc_stride;
    int32_t* dst = args.dst + i * args.dst_stride;
    for (size_t c = 0; c < whole; c += 4) {
      const int32x4_t h = vld1q_s32(high + c), l = vld1q_s32(low + c);
      const int32x4_t b = args.bias != nullptr ? vld1q_s32(args.bias + c) : vdupq_n_s32(0);
      vst1q_s32(dst + c, vcombine_s32(join(vget_low_s32(h), vget_low_s32(l), vget_low_s32(b)),
                                      join(vget_high_s32(h), vget_high_s32(l), vget_high_s32(b))));
    }
  }
  if (whole == args.n) return;
  ConvertS32S32x2Args tail = args;
  tail.n -= whole, tail.acc += whole, tail.dst += whole;
  if (tail.bias != nullptr) tail.bias += whole;
  convert_s32_s32x2_scalar(tail);
}

}  // namespace embert
