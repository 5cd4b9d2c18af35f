// SPDX-License-Identifier: Apache-2.0
// The integers of attention: queries, keys and values of all attention heads, scores, relative
// positions and context. The attention output is a residual layer (assemble_layer.cpp).
#pragma once

#include "converter/model/quantized_model.hpp"
#include "converter/quantize/rounding/round_layer.hpp"

namespace embert::convert {

void assemble_self_attention(const LayerSource& source, const LayerScales& scales,
                             const RoundedLayer& parts, QuantizedLayer& layer);

/// Keys and values are computed from 16-bit rows.
void assemble_cross_attention(const LayerSource& source, const LayerScales& scales,
                              const RoundedLayer& parts, QuantizedLayer& layer);

}  // namespace embert::convert
