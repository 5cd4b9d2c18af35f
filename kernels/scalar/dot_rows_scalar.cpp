// SPDX-License-Identifier: Apache-2.0
#include "kernels/variants.hpp"

namespace embert {

void dot_rows_scalar(const DotRowsArgs& args) {
  for (size_t i = 0; i < args.m; ++i) {
    const int8_t* lhs = args.lhs + i * args.lhs_stride;
    for (size_t j = 0; j < args.n; ++j) {
      const int8_t* rhs = args.rhs + j * args.rhs_stride;
      int32_t sum = 0;
      for (size_t c = 0; c < args.k; ++c) sum += lhs[c] * rhs[c];
      args.dst[i * args.dst_stride + j] = sum;
    }
  }
}

}  // namespace embert
