// SPDX-License-Identifier: Apache-2.0
// Contract of the gate of a gated feed-forward network (Shazeer 2020, section 2: GEGLU and its
// kin): the activated columns are multiplied with the sums of as many other columns.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/arithmetic/fixed_point.hpp"

namespace embert {

/// values[i][c] = gated_value(values[i][c], offset, gate, shift) with gate =
/// clamp(requantize(acc[i][c]), +-32767). Before the call values holds what requantize_activation
/// wrote, u16 in 0..32767; afterwards s16 in +-32767.
struct RequantizeGateArgs {
  size_t m, n;
  const int32_t* acc;  ///< [m][n], rows 64-byte aligned and readable to pad_columns(n)
  size_t acc_stride;   ///< elements
  Requantize factor;   ///< multiplier [pad_columns(n)]
  int32_t offset;      ///< 0..32767: what the activation adds to its function (activation_offset)
  int32_t shift;       ///< 0..15
  int16_t* values;     ///< [m][n], in place; does not overlap acc
  size_t stride;       ///< elements, of values
};
using RequantizeGateFn = void (*)(const RequantizeGateArgs&);

}  // namespace embert
