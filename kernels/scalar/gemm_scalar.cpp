// SPDX-License-Identifier: Apache-2.0
#include "kernels/variants.hpp"

namespace embert {

void gemm_s32_n16k4_scalar(const GemmArgs& args) {
  const int32_t correction = lhs_correction(args.lhs_type);
  for (size_t i = 0; i < args.m; ++i) {
    const uint8_t* lhs = args.lhs + i * args.lhs_stride;
    for (size_t j = 0; j < args.n; ++j) {
      int32_t sum = args.bias != nullptr ? args.bias[j] : 0;
      if (correction != 0) sum += correction * args.sums[j];
      for (size_t c = 0; c < args.k; ++c) {
        const int32_t value = EMBERT_X86 ? int32_t{lhs[c]} : static_cast<int8_t>(lhs[c]);
        sum += value * args.rhs[n16k4_index(j, c, args.k)];
      }
      args.dst[i * args.dst_stride + j] = sum;
    }
  }
}

}  // namespace embert
