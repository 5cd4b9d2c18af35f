// SPDX-License-Identifier: Apache-2.0
// Contract of attention's context (Vaswani et al. 2017, eq. 1): the products of unnormalised
// exponentials with both planes of the values are divided by the row's sum and brought to the scale
// of the context, in one go.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/arithmetic/fixed_point.hpp"

namespace embert {

/// dst[i][c] = clamp(requantize(join_planes(acc[i][c], acc[i][pad_columns(n) + c], row[i])),
/// +-32767).
struct RequantizeContextArgs {
  size_t m, n;         ///< tokens, head size
  const int32_t* acc;  ///< [m][2 * pad_columns(n)], high plane first; |acc| <= 127 * the row's sum
                       ///< of exponentials; rows 64-byte aligned
  size_t acc_stride;   ///< elements
  const Reciprocal* row;  ///< [m], from the softmax
  Requantize factor;      ///< multiplier [pad_columns(n)]
  int16_t* dst;           ///< [m][n], overlaps no input
  size_t dst_stride;      ///< elements
};
using RequantizeContextFn = void (*)(const RequantizeContextArgs&);

}  // namespace embert
