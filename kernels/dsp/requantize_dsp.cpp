// SPDX-License-Identifier: Apache-2.0
// Sum with the residual, and activation: the two that every dense layer of an encoder ends in.
// Under QEMU 37 and 47 (gelu) instructions an element; the scalar kernels take 62 and 77.
#include "kernels/dsp/fixed_point_dsp.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

template <bool kRight>
void run_residual(const RequantizeResidualArgs args) {  // a copy, which no store can change
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

template <bool kRight, bool kOdd>
void run_activation(const RequantizeActivationArgs args) {
  const Activation& a = args.activation;
  const int32_t interval_shift = a.exponent - 4, output_shift = 14 - a.exponent;
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    uint16_t* dst = args.dst + i * args.dst_stride;
    for (size_t c = 0; c < args.n; ++c) {
      const int32_t x = scale_round<kRight>(acc[c], args.factor.multiplier[c], args.factor);
      const int32_t g = clamp<int32_t>(x, -32767, 32767);
      const int32_t magnitude = g < 0 ? -g : g, node = magnitude >> interval_shift;
      int32_t h = 0;
      if (node < a.intervals) {
        const int32_t fraction = magnitude & ((1 << interval_shift) - 1);
        const int32_t difference = a.nodes[node + 1] - a.nodes[node];
        h = a.nodes[node] + round_right(difference * fraction, interval_shift);
      }
      int32_t u = 0;
      if (kOdd) {
        u = (g >= 0 ? 2 << a.exponent : 0) + round_right(g >= 0 ? -h : h, output_shift);
      } else {
        u = (g > 0 ? g : 0) + round_right(a.offset_q14 - h, output_shift);
      }
      dst[c] = saturate_u15(u);
    }
  }
}

}  // namespace

void requantize_residual_dsp(const RequantizeResidualArgs& args) {
  if (args.factor.right != 0) {
    run_residual<true>(args);
  } else {
    run_residual<false>(args);
  }
}

void requantize_activation_dsp(const RequantizeActivationArgs& args) {
  if (args.activation.odd != 0) {
    args.factor.right != 0 ? run_activation<true, true>(args) : run_activation<false, true>(args);
  } else {
    args.factor.right != 0 ? run_activation<true, false>(args) : run_activation<false, false>(args);
  }
}

}  // namespace embert
