// SPDX-License-Identifier: Apache-2.0
// How the inputs of a layer's GEMMs are quantised: channel by channel.
#pragma once

#include <cstdint>
#include <vector>

namespace embert::convert {

/// real[c] = factor[c] * scale * code[c] + offset[c]. The geometric mean of the factors is 1.
struct ChannelQuant {
  std::vector<double> offset, factor;  ///< [inputs]
  double scale = 1;                    ///< of an 8-bit code, where not said otherwise
};

/// Of one layer. Members of cross-attention are empty without it.
struct LayerScales {
  ChannelQuant input;    ///< of query, key and value
  ChannelQuant context;  ///< scale of the 16-bit context
  ChannelQuant cross_input, cross_context;
  ChannelQuant cross_states;  ///< scale of the 32-bit sums, which lose low bits when joined
  ChannelQuant ffn_input;
  int activation_exponent = 10;  ///< scale of the activation function's output: 2^-exponent
  std::int32_t activation_offset_q14 = 0;
};

}  // namespace embert::convert
