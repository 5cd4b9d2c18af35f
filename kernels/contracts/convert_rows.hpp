// SPDX-License-Identifier: Apache-2.0
// Contracts of conversions between row formats at fixed scales. The names say destination and
// source: convert_s8_s16 makes 8-bit rows of 16-bit rows, convert_s8x2_s16 two 8-bit rows of each.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/arithmetic/fixed_point.hpp"

namespace embert {

/// A LayerNorm's output as left operand of a GEMM, whose scale is 128 times that of the output:
/// dst[i][c] = sat8(RS(src[i][c], 7)) ^ kSignedLhsFlip. Bytes from k to pad_inputs(k) hold
/// kSignedLhsFlip, which stands for zero.
struct ConvertS8S16Args {
  size_t m, k;
  const int16_t* src;  ///< [m][k]
  size_t src_stride;   ///< elements
  uint8_t* dst;        ///< [m][pad_inputs(k)], does not overlap src
  size_t dst_stride;   ///< bytes
};
using ConvertS8S16Fn = void (*)(const ConvertS8S16Args&);

/// A 16-bit row as two planes of 8 bits, so that dense layers on 16-bit rows use the 8-bit GEMM:
/// with v = clamp(src[i][c], +-kValueBound), dst[2 i][c] = plane_high(v) ^ flip and dst[2 i + 1][c]
/// = plane_low(v) ^ flip. Bytes from k to pad_inputs(k) hold flip, which stands for zero.
struct ConvertS8x2S16Args {
  size_t m, k;
  const int16_t* src;  ///< [m][k]
  size_t src_stride;   ///< elements
  uint8_t* dst;        ///< [2 m][pad_inputs(k)], does not overlap src
  size_t dst_stride;   ///< bytes
  uint8_t flip;        ///< kSignedLhsFlip for the GEMM, 0 for dot_rows
};
using ConvertS8x2S16Fn = void (*)(const ConvertS8x2S16Args&);

/// The sums of both planes as one sum: dst[i][c] = sat32(RS(256 * acc[2 i][c] + acc[2 i + 1][c],
/// join_shift) + bias[c]).
struct ConvertS32S32x2Args {
  size_t m, n;
  const int32_t* acc;   ///< [2 m][n]
  size_t acc_stride;    ///< elements
  int32_t join_shift;   ///< 0..8
  const int32_t* bias;  ///< [n], or null for zeros
  int32_t* dst;         ///< [m][n]; may be acc with dst_stride = 2 * acc_stride
  size_t dst_stride;    ///< elements
};
/// 32 bits serve where no magnitude of a high sum has one of join_high_bits() and none of a low sum
/// or bias one of kJoinLowBits: the joined sum stays below 2^30 + 2^29 + 2^29.
static constexpr int32_t join_high_bits(int32_t join_shift) { return -(1 << (22 + join_shift)); }
static constexpr int32_t kJoinLowBits = -(1 << 29);
using ConvertS32S32x2Fn = void (*)(const ConvertS32S32x2Args&);

/// Hidden states as an output: a LayerNorm's rows, which have a scale and an offset of their own
/// for each channel, to one scale for all: dst[i][c] = hidden_value(src[i][c], multiplier[c],
/// offset[c]).
struct RescaleChannelsArgs {
  size_t m, n;
  const int16_t* src;         ///< [m][n]
  size_t src_stride;          ///< elements
  const int32_t* multiplier;  ///< [n], in 2^-16
  const int32_t* offset;      ///< [n], in 2^-16 of dst's scale
  int16_t* dst;               ///< [m][n]; may be src with the same stride
  size_t dst_stride;          ///< elements
};
using RescaleChannelsFn = void (*)(const RescaleChannelsArgs&);

}  // namespace embert
