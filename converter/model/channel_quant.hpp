// SPDX-License-Identifier: Apache-2.0
// How the inputs of a layer's GEMMs are quantised, channel by channel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace embert::convert {

/// Of a code or a weight. Smaller scales are 0, or lose bits, as float32.
inline constexpr double kLeastScale = 0x1p-100;

/// The scale, or one that float32 holds; 1 where there is nothing to scale.
inline double usable_scale(double scale) { return scale > 0 ? std::max(scale, kLeastScale) : 1.0; }

/// real[c] = factor[c] * scale * code[c] + offset[c]. A LayerNorm can write any such input at no
/// cost: its gain and bias take in factor and offset, and the weights of the GEMM absorb the
/// factors (SmoothQuant, Xiao et al. 2022, equation 3).
struct ChannelQuant {
  std::vector<double> offset;  ///< [inputs] real
  std::vector<double> factor;  ///< [inputs] smoothing factors; their geometric mean is 1
  double scale = 1;            ///< of an 8-bit code, where not said otherwise
};

/// Factor 1 and offset 0 in every channel.
inline ChannelQuant per_tensor_quant(std::size_t inputs, double scale) {
  return {.offset = std::vector<double>(inputs, 0.0),
          .factor = std::vector<double>(inputs, 1.0),
          .scale = scale};
}

/// Columns with a row maximum, a code and scales of weights of their own, at most.
inline constexpr std::size_t kColumnGroups = 2;

/// Of a feed-forward network.
struct FeedForwardScales {
  ChannelQuant ffn_input;        ///< of the first feed-forward layer
  int activation_exponent = 10;  ///< the activation function's output has the scale 2^-exponent
  std::int32_t activation_offset_q14 = 0;  ///< added to that output, Q14, so that it is >= 0
  /// [intermediate channels] of the second feed-forward layer: 0 for the kFirstColumns that reach
  /// furthest, 1 for the others; empty: one group.
  std::vector<std::uint8_t> group;
  // Of a gated feed-forward network; a factor is empty in others.
  ChannelQuant activated;       ///< of the second feed-forward layer; scale of the 16-bit product
  double gate_scale = 1;        ///< of 16-bit factors: real = code * activated.factor * gate_scale
  std::int32_t gate_shift = 0;  ///< right shift of the product
};

/// The inputs of one layer's GEMMs. Members of cross-attention are empty without it.
struct LayerScales : FeedForwardScales {
  bool wide_inputs = false;    ///< the GEMMs read 16 bits, see quantize/layer/layer_source.hpp
  ChannelQuant input;          ///< of query, key and value; with bottlenecks of the layer
  ChannelQuant context;        ///< of the attention output; scale of the 16-bit context, no offset
  ChannelQuant cross_input;    ///< of cross-attention's query
  ChannelQuant cross_context;  ///< of cross-attention's output, as context
  /// Of cross-attention's keys and values. They read 16-bit rows in two planes; the scale is that
  /// of the joined sums, which have lost their lowest bits (quantize/two_planes.hpp).
  ChannelQuant cross_states;
  std::vector<FeedForwardScales> stacked;  ///< feed-forward networks behind the first
  // With bottlenecks:
  ChannelQuant intra;              ///< rows to which the layer's blocks add
  ChannelQuant query_key;          ///< of query and key, with BottleneckKind::kShared
  ChannelQuant bottleneck_output;  ///< of the dense layer back to the hidden state

  const FeedForwardScales& ffn(std::size_t index) const {
    return index == 0 ? *this : stacked[index - 1];
  }
};

}  // namespace embert::convert
