// SPDX-License-Identifier: Apache-2.0
// Contracts of what makes a GEMM's left operand from 16-bit rows. Bytes from k to pad_inputs(k) are
// written as zero (flipped).
#pragma once

#include "kernels/arithmetic/fixed_point.hpp"
#include "kernels/arithmetic/layout.hpp"
#include "kernels/processor.hpp"

namespace embert {

/// Static step: dst[i][c] = sat8(RS(src[i][c], 7)) ^ kSignedLhsFlip: the GEMM input is one shift
/// from the residual.
struct ConvertS8S16Args {
  size_t m, k;
  const int16_t* src;  ///< [m][k]
  size_t src_stride;   ///< elements
  uint8_t* dst;        ///< [m][pad_inputs(k)], no overlap with src
  size_t dst_stride;   ///< bytes
};
using ConvertS8S16Fn = void (*)(const ConvertS8S16Args&);

/// Dynamic step, signed: row_max[i] = max(1, max |src|); dst = quantize_row_value(src,
/// row_scale(row_max, 127)), src in +-32767.
struct QuantizeS8S16Args {
  size_t m, k;
  const int16_t* src;  ///< [m][k]
  size_t src_stride;   ///< elements
  uint8_t* dst;        ///< [m][pad_inputs(k)]; may be src with dst_stride = 2 * src_stride
  size_t dst_stride;   ///< bytes
  int32_t* row_max;    ///< [m]
};
using QuantizeS8S16Fn = void (*)(const QuantizeS8S16Args&);

/// Dynamic step, unsigned: as above with top 255 and kUnsignedLhsFlip, src in 0..32767.
struct QuantizeU8U16Args {
  size_t m, k;
  const uint16_t* src;
  size_t src_stride;
  uint8_t* dst;
  size_t dst_stride;
  int32_t* row_max;
};
using QuantizeU8U16Fn = void (*)(const QuantizeU8U16Args&);

}  // namespace embert
