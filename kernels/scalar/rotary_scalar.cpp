// SPDX-License-Identifier: Apache-2.0
#include "kernels/variants.hpp"

namespace embert {

void rotate_scalar(const RotateArgs& args) {
  for (size_t t = 0; t < args.m; ++t) {
    for (size_t i = 0; i < args.n / 2; ++i) {
      rotate_columns(args.factor, args.acc + t * args.acc_stride, args.angles + t * args.n, i,
                     args.n / 2);
    }
  }
}

}  // namespace embert
