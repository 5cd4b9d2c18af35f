// SPDX-License-Identifier: Apache-2.0
// Contract of the GEMM: 8-bit operands, exact 32-bit sums. Every matrix product of a model is this
// one operation: dense layers, attention scores (the keys are the right operand) and context (the
// values are the right operand).
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/arithmetic/layout.hpp"

namespace embert {

/// dst[i][j] = bias[j] + lhs_correction(lhs_type) * sums[j] + sum over c of lhs[i][c] * rhs[c][j],
/// with lhs bytes read unsigned on x86 and signed elsewhere (layout.hpp). The sums are exact: with
/// a bias below 2^30 every partial sum of at most 4224 inputs fits int32. A kernel reads and writes
/// nothing outside the extents below.
struct GemmArgs {
  size_t m;            ///< rows, >= 1
  size_t n;            ///< columns, a multiple of 16
  size_t k;            ///< inputs, a multiple of 4 in 4..4224
  const uint8_t* lhs;  ///< [m][k], row stride lhs_stride
  size_t lhs_stride;   ///< bytes, >= k
  LhsType lhs_type;
  RhsOrder rhs_order = RhsOrder::kN16K4;
  const int8_t* rhs;    ///< n16k4 [n/16][k/4][16][4] or n8k16, in -127..127, 64-byte aligned
  const int32_t* bias;  ///< [n], or null for zeros
  const int32_t* sums;  ///< [n] column sums of rhs; not read where lhs_correction is 0
  int32_t* dst;         ///< [m][n], row stride dst_stride, 64-byte aligned; overlaps no input
  size_t dst_stride;    ///< elements, a multiple of 16
  /// 2: the rows are high and low planes in turn. The sums do not depend on it; a kernel whose
  /// speed depends on its inputs may take them apart.
  size_t planes = 1;
};
using GemmFn = void (*)(const GemmArgs&);

}  // namespace embert
