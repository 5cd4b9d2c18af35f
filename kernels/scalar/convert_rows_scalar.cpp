// SPDX-License-Identifier: Apache-2.0
#include "kernels/variants.hpp"

namespace embert {

void convert_s8_s16_scalar(const ConvertS8S16Args& args) {
  for (size_t i = 0; i < args.m; ++i) {
    const int16_t* src = args.src + i * args.src_stride;
    uint8_t* dst = args.dst + i * args.dst_stride;
    for (size_t c = 0; c < pad_inputs(args.k); ++c) {
      const int32_t value = c < args.k ? sat8(shift_round(src[c], 7)) : 0;
      dst[c] = static_cast<uint8_t>(value) ^ kSignedLhsFlip;
    }
  }
}

void convert_s8x2_s16_scalar(const ConvertS8x2S16Args& args) {
  for (size_t i = 0; i < args.m; ++i) {
    const int16_t* src = args.src + i * args.src_stride;
    uint8_t* high = args.dst + 2 * i * args.dst_stride;
    uint8_t* low = high + args.dst_stride;
    for (size_t c = 0; c < pad_inputs(args.k); ++c) {
      const int32_t v = c < args.k ? clamp<int32_t>(src[c], -kValueBound, kValueBound) : 0;
      high[c] = static_cast<uint8_t>(plane_high(v)) ^ args.flip;
      low[c] = static_cast<uint8_t>(plane_low(v)) ^ args.flip;
    }
  }
}

void convert_s32_s32x2_scalar(const ConvertS32S32x2Args& args) {
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* high = args.acc + 2 * i * args.acc_stride;
    const int32_t* low = high + args.acc_stride;
    for (size_t c = 0; c < args.n; ++c) {
      const int64_t sum = shift_round(int64_t{high[c]} * 256 + low[c], args.join_shift);
      args.dst[i * args.dst_stride + c] = sat32(sum + (args.bias != nullptr ? args.bias[c] : 0));
    }
  }
}

void rescale_channels_scalar(const RescaleChannelsArgs& args) {
  for (size_t i = 0; i < args.m; ++i) {
    const int16_t* src = args.src + i * args.src_stride;
    for (size_t c = 0; c < args.n; ++c) {
      args.dst[i * args.dst_stride + c] =
          static_cast<int16_t>(hidden_value(src[c], args.multiplier[c], args.offset[c]));
    }
  }
}

}  // namespace embert
