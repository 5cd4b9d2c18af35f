// SPDX-License-Identifier: Apache-2.0
// Contract of LayerNorm (Ba et al. 2016, eq. 3) on 16-bit rows; fixed_point.hpp has the formulas.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/arithmetic/fixed_point.hpp"

namespace embert {

/// dst[i][c] = layernorm_value(src[i][c], n, row, {gain[c], bias[c], shift}) with row =
/// layernorm_row(s1, s2, epsilon_n2, n) of the exact sums of row i. Rows need no alignment.
struct LayerNormArgs {
  size_t m, n;          ///< rows, columns (1..4096)
  const int16_t* src;   ///< [m][n]
  int16_t* dst;         ///< [m][n]; may be src
  size_t stride;        ///< elements, of src and dst
  int64_t epsilon_n2;   ///< eps / scale^2 * n^2, in 1..2^54
  const int32_t* gain;  ///< [n]
  const int32_t* bias;  ///< [n], magnitude below 2^29
  int32_t shift;        ///< of gain and bias, in 8..38
};
using LayerNormFn = void (*)(const LayerNormArgs&);

}  // namespace embert
