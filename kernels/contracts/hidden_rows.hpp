// SPDX-License-Identifier: Apache-2.0
// Contract of hidden states as an output: a LayerNorm's rows out of the domain that the converter
// folded them into, to one step for all channels.
#pragma once

#include <stddef.h>

#include "kernels/arithmetic/fixed_point.hpp"

namespace embert {

/// dst[i][c] = hidden_value(src[i][c], multiplier[c], offset[c]).
struct RescaleChannelsArgs {
  size_t m, n;
  const int16_t* src;         ///< [m][n]
  size_t src_stride;          ///< elements
  const int32_t* multiplier;  ///< [n], in 2^-16
  const int32_t* offset;      ///< [n], in 2^-16 of dst's step
  int16_t* dst;               ///< [m][n]; may be src with the same stride
  size_t dst_stride;          ///< elements
};
using RescaleChannelsFn = void (*)(const RescaleChannelsArgs&);

}  // namespace embert
