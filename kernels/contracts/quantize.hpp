// SPDX-License-Identifier: Apache-2.0
// Contracts of dynamic quantisation, one scale a row: 16-bit rows become the left operand of a
// GEMM. The row's maximum becomes 127 or 255; residual_sum multiplies it back.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/arithmetic/fixed_point.hpp"

namespace embert {

/// row_max[i] = max(1, max over c of |src[i][c]|); dst[i][c] = quantize_row_value(src[i][c],
/// row_scale(row_max[i], 127)) ^ kSignedLhsFlip. Bytes from k to pad_inputs(k) hold kSignedLhsFlip,
/// which stands for zero.
struct QuantizeS8S16Args {
  size_t m, k;
  const int16_t* src;  ///< [m][k], values in +-32767
  size_t src_stride;   ///< elements
  uint8_t* dst;        ///< [m][pad_inputs(k)]; may be src with dst_stride = 2 * src_stride
  size_t dst_stride;   ///< bytes
  int32_t* row_max;    ///< [m]
};
using QuantizeS8S16Fn = void (*)(const QuantizeS8S16Args&);

/// The same for values that are not negative: row_scale(row_max[i], 255) and kUnsignedLhsFlip.
struct QuantizeU8U16Args {
  size_t m, k;
  const uint16_t* src;  ///< [m][k], values in 0..32767
  size_t src_stride;    ///< elements
  uint8_t* dst;         ///< [m][pad_inputs(k)]; may be src with dst_stride = 2 * src_stride
  size_t dst_stride;    ///< bytes
  int32_t* row_max;     ///< [m]
};
using QuantizeU8U16Fn = void (*)(const QuantizeU8U16Args&);

}  // namespace embert
