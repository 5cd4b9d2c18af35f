// SPDX-License-Identifier: Apache-2.0
#include "kernels/variants.hpp"

namespace embert {

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
