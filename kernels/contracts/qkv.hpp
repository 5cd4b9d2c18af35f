// SPDX-License-Identifier: Apache-2.0
// Contracts of queries, keys and values (Vaswani et al. 2017, section 3.2): the 32-bit sums of
// their GEMM become 8-bit operands of attention's own two GEMMs. requantize() of fixed_point.hpp
// brings a sum to the scale of its column. The same function types write a whole text
// (requantize_*) and a KV cache that grows token by token (append_*). acc overlaps no output.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/arithmetic/fixed_point.hpp"
#include "kernels/arithmetic/layout.hpp"

namespace embert {

/// Queries, the left operand of the scores: dst[i][c] = sat8(requantize(acc[i][c])) ^
/// kSignedLhsFlip for c < n; bytes from n to pad_inputs(n) hold kSignedLhsFlip, which stands for
/// zero.
struct RequantizeQueryArgs {
  size_t m, n;         ///< tokens, head size
  const int32_t* acc;  ///< [m][n], rows 64-byte aligned and readable to pad_columns(n)
  size_t acc_stride;   ///< elements
  Requantize factor;   ///< multiplier [pad_columns(n)]
  uint8_t* dst;        ///< [m][pad_inputs(n)]
  size_t dst_stride;   ///< bytes
};
using RequantizeQueryFn = void (*)(const RequantizeQueryArgs&);

/// Keys, the right operand of the scores: v = sat8(requantize(acc[i][c])) becomes column row0 + i,
/// input c of dst. Inputs from n to pad_inputs(n) are zero. sums[row0 + i] = sum over c of v. Other
/// columns of dst and sums keep their bytes.
struct RequantizeKeyArgs {
  size_t m, n;         ///< tokens, head size
  size_t row0;         ///< first token: a multiple of 4 for requantize_key, any for append_key
  const int32_t* acc;  ///< [m][n], rows 64-byte aligned and readable to pad_columns(n)
  size_t acc_stride;   ///< elements
  Requantize factor;   ///< multiplier [pad_columns(n)]
  int8_t* dst;         ///< n16k4 [pad_columns(tokens)/16][pad_inputs(n)/4][16][4]
  int32_t* sums;       ///< [pad_columns(tokens)]
};
using RequantizeKeyFn = void (*)(const RequantizeKeyArgs&);
using AppendKeyFn = RequantizeKeyFn;

/// requantize_query_s8x2 and requantize_key_s8x2: queries and keys of 16 bits as two planes of 8.
/// With v = clamp(requantize(acc[i][c]), +-kValueBound), high = plane_high(v), low = plane_low(v) a
/// query becomes two rows, dst[2 i] = (high, 0) and dst[2 i + 1] = (low, high), and a key a column
/// (high, low). So the GEMM's two sums are high.high and low.high + high.low, which
/// convert_s32_s32x2 joins: all of the product but low.low / 2^16. Each part has pad_inputs(n)
/// bytes: dst of queries is [2 m][2 pad_inputs(n)], that of keys n16k4
/// [pad_columns(tokens)/16][2 pad_inputs(n)/4][16][4]. A key's sum is that of both parts. All else
/// is as above.
using RequantizeQueryS8x2Fn = RequantizeQueryFn;
using RequantizeKeyS8x2Fn = RequantizeKeyFn;

/// Values, the right operand of the context: v = clamp(requantize(acc[i][c]), +-kValueBound) as two
/// planes of 8 bits, plane_high(v) and plane_low(v). dst has 2 * pad_columns(n) columns, those of
/// the high plane first, and one input a token: row0 + i. Inputs from row0 + m to pad_inputs(row0 +
/// m) become zero; inputs below row0 stay. sums[column] += the sum over the tokens of this call, or
/// = that sum where row0 is 0. sums is null where lhs_correction(LhsType::kUnsigned) is 0, because
/// the GEMM does not read it there. Columns from n to pad_columns(n) hold the results of acc and
/// multiplier there: zeros with a blob's padding.
struct RequantizeValueArgs {
  size_t m, n;         ///< tokens, head size
  size_t row0;         ///< first token: a multiple of 4 for requantize_value, any for append_value
  size_t k;            ///< inputs of dst, a multiple of 4, >= row0 + m: of a text or of a cache
  const int32_t* acc;  ///< [m][pad_columns(n)], rows 64-byte aligned
  size_t acc_stride;   ///< elements
  Requantize factor;   ///< multiplier [pad_columns(n)]
  int8_t* dst;         ///< n16k4 [2 * pad_columns(n)/16][k/4][16][4]
  int32_t* sums;       ///< [2 * pad_columns(n)] or null
};
using RequantizeValueFn = void (*)(const RequantizeValueArgs&);
using AppendValueFn = RequantizeValueFn;

}  // namespace embert
