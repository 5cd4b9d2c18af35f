// SPDX-License-Identifier: Apache-2.0
// Contract of the activation: GEMM sums through relu, gelu (Hendrycks and Gimpel 2016), silu or
// tanh to 16 bits. The function is a table with linear interpolation (activate() of
// fixed_point.hpp).
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/arithmetic/fixed_point.hpp"

namespace embert {

/// dst[i][c] = activate(clamp(requantize(acc[i][c]), +-32767), activation).
struct RequantizeActivationArgs {
  size_t m, n;
  const int32_t* acc;  ///< [m][n], rows 64-byte aligned and readable to pad_columns(n)
  size_t acc_stride;   ///< elements
  Requantize factor;   ///< multiplier [pad_columns(n)]
  Activation activation;
  uint16_t* dst;      ///< [m][n], values in 0..32767; does not overlap acc
  size_t dst_stride;  ///< elements
};
using RequantizeActivationFn = void (*)(const RequantizeActivationArgs&);

}  // namespace embert
