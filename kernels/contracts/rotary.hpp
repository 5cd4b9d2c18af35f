// SPDX-License-Identifier: Apache-2.0
// Contract of rotary positions (Su et al. 2021, equation 34): the sums of a query or key are
// requantised to 16 bits, and channels i and i + n/2 turn together by the angle of their position.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/arithmetic/fixed_point.hpp"

namespace embert {

/// rotate_columns(factor, acc[t], angles[t], i, n/2) for i < n/2. The results are below 2^16;
/// requantize_query, requantize_key and append_key read them. Columns from n on keep their values.
struct RotateArgs {
  size_t m, n;            ///< tokens; head size, even
  int32_t* acc;           ///< [m][n], rows 64-byte aligned
  size_t acc_stride;      ///< elements
  Requantize factor;      ///< multiplier [n]
  const int16_t* angles;  ///< [m][n]: n/2 cosines, then n/2 sines, Q14, in +-2^14
};
using RotateFn = void (*)(const RotateArgs&);

}  // namespace embert
