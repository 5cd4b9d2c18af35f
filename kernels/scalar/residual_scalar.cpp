// SPDX-License-Identifier: Apache-2.0
#include "kernels/variants.hpp"

namespace embert {

void requantize_residual_scalar(const RequantizeResidualArgs& args) {
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    const int16_t* residual = args.residual + i * args.dst_stride;
    for (size_t c = 0; c < args.n; ++c) {
      args.dst[i * args.dst_stride + c] = static_cast<int16_t>(
          residual_sum(requantize_column(args.factor, acc, c), args.row_max[i], residual[c],
                       args.residual_multiplier[c], args.constant[c]));
    }
  }
}

}  // namespace embert
