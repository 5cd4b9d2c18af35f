// SPDX-License-Identifier: Apache-2.0
// Contract of the residual sum (He et al. 2016, eq. 1): the sums of a block's last GEMM plus the
// block's input, as the 16-bit input of the next LayerNorm.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/arithmetic/fixed_point.hpp"

namespace embert {

/// dst[i][c] = residual_sum(requantize(acc[i][c]), row_max[i], residual[i][c],
/// residual_multiplier[c], constant[c]).
struct RequantizeResidualArgs {
  size_t m, n;
  const int32_t* acc;       ///< [m][n], rows 64-byte aligned and readable to pad_columns(n)
  size_t acc_stride;        ///< elements
  Requantize factor;        ///< multiplier [pad_columns(n)]
  const int32_t* row_max;   ///< [m] in 1..32767: the GEMM input's, from quantize_*
  const int16_t* residual;  ///< [m][n], row stride dst_stride
  const int32_t* residual_multiplier;  ///< [pad_columns(n)], magnitude below 2^29
  const int32_t* constant;             ///< [pad_columns(n)], magnitude <= 2^28 - 2^19
  int16_t* dst;                        ///< [m][n]; may be residual itself, overlaps nothing else
  size_t dst_stride;                   ///< elements
};
using RequantizeResidualFn = void (*)(const RequantizeResidualArgs&);

}  // namespace embert
