// SPDX-License-Identifier: Apache-2.0
// The result of the second calibration pass (calibrate/collect_rows.hpp): rows of every GEMM's
// input as the runtime will see them, quantised. One byte a value keeps them small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "converter/model/channel_quant.hpp"

namespace embert::convert {

/// value[r][c] = (codes[r][c] - zero_point) * scales(r)[group[c]]: smoothed, that is in units of
/// the channel's factor and relative to its offset (ChannelQuant).
struct QuantizedRows {
  std::size_t rows = 0, cols = 0;
  int zero_point = 0;
  std::vector<std::int8_t> codes;     ///< [rows, cols]
  std::vector<std::uint8_t> group;    ///< [cols] 0 or 1
  std::vector<float> row_scale;       ///< [rows, kColumnGroups]
  std::vector<double> real_mean;      ///< [cols] mean of the float values, not smoothed
  std::vector<double> smoothed_mean;  ///< [cols] mean of the quantised values

  const float* scales(std::size_t row) const { return row_scale.data() + row * kColumnGroups; }
};

struct FeedForwardRows {
  QuantizedRows ffn_input, activated;
};

/// Inputs of a layer's GEMMs; those of cross-attention and of bottlenecks are empty without them.
struct LayerRows : FeedForwardRows {
  QuantizedRows input, context, cross_input, cross_context, intra, query_key, bottleneck_output;
  std::vector<FeedForwardRows> stacked;  ///< feed-forward networks behind the first

  FeedForwardRows& ffn(std::size_t index) { return index == 0 ? *this : stacked[index - 1]; }
};

}  // namespace embert::convert
