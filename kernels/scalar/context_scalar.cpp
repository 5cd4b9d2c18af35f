// SPDX-License-Identifier: Apache-2.0
#include "kernels/variants.hpp"

namespace embert {

void requantize_context_scalar(const RequantizeContextArgs& args) {
  const size_t columns = pad_columns(args.n);
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    for (size_t c = 0; c < args.n; ++c) {
      const int32_t joined = join_planes(acc[c], acc[columns + c], args.row[i]);
      const int32_t value =
          requantize(joined, args.factor.multiplier[c], args.factor.left, args.factor.right);
      args.dst[i * args.dst_stride + c] =
          static_cast<int16_t>(clamp<int32_t>(value, -32767, 32767));
    }
  }
}

}  // namespace embert
