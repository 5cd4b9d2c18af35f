// SPDX-License-Identifier: Apache-2.0
#include "kernels/variants.hpp"

namespace embert {

void layernorm_s16_scalar(const LayerNormArgs& args) {
  const int32_t n = static_cast<int32_t>(args.n);
  for (size_t i = 0; i < args.m; ++i) {
    const int16_t* src = args.src + i * args.stride;
    int16_t* dst = args.dst + i * args.stride;
    int64_t s1 = 0, s2 = 0;
    for (size_t c = 0; c < args.n; ++c) {
      s1 += src[c];
      s2 += int32_t{src[c]} * src[c];
    }
    const LayerNormRow row = layernorm_row(s1, s2, args.epsilon_n2, n);
    for (size_t c = 0; c < args.n; ++c) {
      dst[c] = static_cast<int16_t>(
          layernorm_value(src[c], n, row, {args.gain[c], args.bias[c], args.shift}));
    }
  }
}

}  // namespace embert
