// SPDX-License-Identifier: Apache-2.0
#include "kernels/variants.hpp"

namespace embert {

void requantize_activation_scalar(const RequantizeActivationArgs& args) {
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    for (size_t c = 0; c < args.n; ++c) {
      const int32_t g = clamp<int32_t>(requantize_column(args.factor, acc, c), -32767, 32767);
      args.dst[i * args.dst_stride + c] = static_cast<uint16_t>(activate(g, args.activation));
    }
  }
}

}  // namespace embert
