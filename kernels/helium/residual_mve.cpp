// SPDX-License-Identifier: Apache-2.0
// Residual sum of 4 columns at a time.
#include "kernels/helium/lanes_mve.hpp"
#include "kernels/variants.hpp"

namespace embert {

void requantize_residual_mve(const RequantizeResidualArgs& all) {
  const RequantizeResidualArgs args = all;  // a copy, which no store can change
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    const int16_t* residual = args.residual + i * args.dst_stride;
    int16_t* dst = args.dst + i * args.dst_stride;
    const int32_t row_max = args.row_max[i] * 65536;
    by_fours(args.n, [&](size_t c, auto lanes) {
      const int32x4_t product = clamp4(vqrdmulhq_n_s32(columns4(args.factor, acc, c), row_max),
                                       -kResidualBound, kResidualBound);
      const int32x4_t carried = vqrdmulhq_s32(vshlq_n_s32(load4(residual + c, lanes), 15),
                                              vldrwq_s32(args.residual_multiplier + c));
      const int32x4_t sum = vaddq_s32(vaddq_s32(product, carried), vldrwq_s32(args.constant + c));
      store4(dst + c, saturate16(vrshrq_n_s32(sum, 4)), lanes);
    });
  }
}

}  // namespace embert
