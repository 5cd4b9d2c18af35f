// SPDX-License-Identifier: Apache-2.0
#include "kernels/variants.hpp"

namespace embert {

void requantize_gate_scalar(const RequantizeGateArgs& args) {
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    int16_t* values = args.values + i * args.stride;
    for (size_t c = 0; c < args.n; ++c) {
      const int32_t gate = clamp<int32_t>(requantize_column(args.factor, acc, c), -32767, 32767);
      values[c] = static_cast<int16_t>(gated_value(values[c], args.offset, gate, args.shift));
    }
  }
}

}  // namespace embert
