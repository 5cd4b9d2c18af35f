// SPDX-License-Identifier: Apache-2.0
// The integers of attention but for its output: queries, keys and values of all heads, scores,
// relative positions and context.
#pragma once

#include "converter/model/quantized_model.hpp"
#include "converter/quantize/rounding/round_layer.hpp"

namespace embert::convert {

void assemble_self_attention(const LayerSource& source, const LayerScales& steps,
                             const RoundedDense& qkv, QuantizedLayer& layer);

/// Keys and values are made from 16-bit rows.
void assemble_cross_attention(const LayerSource& source, const LayerScales& steps,
                              const RoundedDense& query, const RoundedDense& key_value,
                              QuantizedLayer& layer);

}  // namespace embert::convert
