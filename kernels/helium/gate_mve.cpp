// SPDX-License-Identifier: Apache-2.0
// Gate of 4 columns at a time.
#include "kernels/helium/lanes_mve.hpp"
#include "kernels/variants.hpp"

namespace embert {

void requantize_gate_mve(const RequantizeGateArgs& all) {
  const RequantizeGateArgs args = all;  // a copy, which no store can change
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    int16_t* values = args.values + i * args.stride;
    by_fours(args.n, [&](size_t c, auto lanes) {
      const int32x4_t gate = clamp4(columns4(args.factor, acc, c), -32767, 32767);
      const int32x4_t value = vsubq_n_s32(load4(values + c, lanes), args.offset);
      const int32x4_t product = vrshlq_n_s32(vmulq_s32(value, gate), -args.shift);
      store4(values + c, clamp4(product, -32767, 32767), lanes);
    });
  }
}

}  // namespace embert
