// SPDX-License-Identifier: Apache-2.0
// Contracts of dense layers on 16-bit rows: a row goes through the GEMM as two rows of 8 bits, high
// and low plane (plane_high, plane_low), and comes out as one sum.
#pragma once

#include "kernels/arithmetic/fixed_point.hpp"
#include "kernels/arithmetic/layout.hpp"
#include "kernels/processor.hpp"

namespace embert {

/// v = clamp(src[i][c], +-kValueBound); dst[2 i][c] = plane_high(v) ^ flip, dst[2 i + 1][c] =
/// plane_low(v) ^ flip. Bytes from k to pad_inputs(k) are zero (flipped).
struct ConvertS8x2S16Args {
  size_t m, k;
  const int16_t* src;  ///< [m][k]
  size_t src_stride;   ///< elements
  uint8_t* dst;        ///< [2 m][pad_inputs(k)], no overlap with src
  size_t dst_stride;   ///< bytes
  uint8_t flip;        ///< kSignedLhsFlip for the GEMM, 0 for dot_rows
};
using ConvertS8x2S16Fn = void (*)(const ConvertS8x2S16Args&);

/// dst[i][c] = sat32(RS(256 * acc[2 i][c] + acc[2 i + 1][c], join_shift) + bias[c]).
struct ConvertS32S32x2Args {
  size_t m, n;
  const int32_t* acc;   ///< [2 m][n]
  size_t acc_stride;    ///< elements
  int32_t join_shift;   ///< 0..38
  const int32_t* bias;  ///< [n], or null for zeros
  int32_t* dst;         ///< [m][n]; may be acc with dst_stride = 2 * acc_stride
  size_t dst_stride;    ///< elements
};
using ConvertS32S32x2Fn = void (*)(const ConvertS32S32x2Args&);

}  // namespace embert
