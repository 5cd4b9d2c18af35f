// SPDX-License-Identifier: Apache-2.0
// Contracts of what follows a GEMM: exact 32-bit sums become the next tensor. One operation for
// each place in the layer: queries, keys, values, context, activation, and the sum with the
// residual. acc and dst never overlap unless said. acc rows have acc_stride elements, are 64-byte
// aligned and readable to pad_columns(n).
#pragma once

#include "kernels/arithmetic/fixed_point.hpp"
#include "kernels/arithmetic/layout.hpp"

namespace embert {

/// Queries: dst[i][c] = sat8(requantize(acc[i][c])) ^ kSignedLhsFlip for c < n; bytes from n to
/// pad_inputs(n) get kSignedLhsFlip (zero).
struct RequantizeQueryArgs {
  size_t m, n;
  const int32_t* acc;  ///< [m][n]
  size_t acc_stride;
  Requantize factor;  ///< multiplier [pad_columns(n)]
  uint8_t* dst;       ///< [m][pad_inputs(n)]
  size_t dst_stride;  ///< bytes
};
using RequantizeQueryFn = void (*)(const RequantizeQueryArgs&);

/// Keys: the same values, written as right operand n16k4 with one column a token: column row0 + i,
/// input c. Inputs from n to pad_inputs(n) are zero. sums[row0 + i] = sum over c.
struct RequantizeKeyArgs {
  size_t m, n;         ///< tokens, head size
  size_t row0;         ///< first token, a multiple of 4 (append_key: any)
  const int32_t* acc;  ///< [m][n]
  size_t acc_stride;
  Requantize factor;  ///< multiplier [pad_columns(n)]
  int8_t* dst;        ///< n16k4 [pad_columns(tokens)/16][pad_inputs(n)/4][16][4]
  int32_t* sums;      ///< [pad_columns(tokens)]
};
/// As requantize_key and, for a cache of keys that grows token by token, as append_key.
using RequantizeKeyFn = void (*)(const RequantizeKeyArgs&);

/// Values: v = clamp(requantize(acc), +-kValueBound) as two planes plane_high(v), plane_low(v),
/// written as right operand n16k4 with 2 * pad_columns(n) columns (high plane, then low plane) and
/// one input a token: row0 + i, and zeros from there to pad_inputs(row0 + m). Inputs below row0
/// stay. sums[column] = sum over tokens, added up over the calls (row0 = 0 starts at zero); null
/// where lhs_correction(kUnsigned) is 0, as nobody reads them there. Columns from n to
/// pad_columns(n) hold whatever acc and multiplier give (zeros, with the blob's padding).
struct RequantizeValueArgs {
  size_t m, n;         ///< tokens, head size
  size_t row0;         ///< first token, a multiple of 4 (append_value: any)
  size_t k;            ///< inputs of dst, a multiple of 4, >= row0 + m: a text's or a cache's
  const int32_t* acc;  ///< [m][pad_columns(n)]
  size_t acc_stride;
  Requantize factor;  ///< multiplier [pad_columns(n)]
  int8_t* dst;        ///< n16k4 [2 * pad_columns(n)/16][k/4][16][4]
  int32_t* sums;      ///< [2 * pad_columns(n)] or null
};
/// As requantize_value and, for a cache of values that grows token by token, as append_value.
using RequantizeValueFn = void (*)(const RequantizeValueArgs&);

/// Context: dst[i][c] = clamp(requantize(join_planes(acc[i][c], acc[i][pad_columns(n) + c],
/// row[i])), +-32767).
struct RequantizeContextArgs {
  size_t m, n;         ///< tokens, head size
  const int32_t* acc;  ///< [m][2 * pad_columns(n)], |acc| <= 127 * the row's sum of exponentials
  size_t acc_stride;
  const Reciprocal* row;  ///< [m]
  Requantize factor;      ///< multiplier [pad_columns(n)]
  int16_t* dst;           ///< [m][n]
  size_t dst_stride;      ///< elements
};
using RequantizeContextFn = void (*)(const RequantizeContextArgs&);

/// Activation: dst[i][c] = activate(clamp(requantize(acc[i][c]), +-32767)).
struct RequantizeActivationArgs {
  size_t m, n;
  const int32_t* acc;  ///< [m][n]
  size_t acc_stride;
  Requantize factor;  ///< multiplier [pad_columns(n)]
  Activation activation;
  uint16_t* dst;      ///< [m][n], values in 0..32767
  size_t dst_stride;  ///< elements
};
using RequantizeActivationFn = void (*)(const RequantizeActivationArgs&);

/// Residual: dst[i][c] = residual_sum(requantize(acc[i][c]), row_max[i], residual[i][c], ...). dst
/// may be residual itself (same stride): the sum replaces what it adds to.
struct RequantizeResidualArgs {
  size_t m, n;
  const int32_t* acc;  ///< [m][n]
  size_t acc_stride;
  Requantize factor;                   ///< multiplier [pad_columns(n)]
  const int32_t* row_max;              ///< [m] in 1..32767, from quantize_rows
  const int16_t* residual;             ///< [m][n], row stride dst_stride
  const int32_t* residual_multiplier;  ///< [pad_columns(n)], magnitude below 2^29
  const int32_t* constant;             ///< [pad_columns(n)], magnitude <= 2^28 - 2^19
  int16_t* dst;                        ///< [m][n]
  size_t dst_stride;                   ///< elements
};
using RequantizeResidualFn = void (*)(const RequantizeResidualArgs&);

}  // namespace embert
