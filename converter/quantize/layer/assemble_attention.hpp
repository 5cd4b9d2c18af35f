// SPDX-License-Identifier: Apache-2.0
// The integers of attention: queries, keys and values of all attention heads, scores, relative
// positions and context. The attention output is a residual layer (assemble_layer.cpp).
#pragma once

#include "converter/model/quantized_model.hpp"
#include "converter/quantize/rounding/round_layer.hpp"

namespace embert::convert {

/// Rotary positions turn 16-bit queries and keys, of which so many units are one of the 8-bit
/// operand. A turn can raise a value by sqrt(2), so 127 codes reach 23,000 of 32,767.
inline constexpr double kRotaryFineness = 128;

void assemble_self_attention(const LayerSource& source, const LayerScales& scales,
                             const RoundedLayer& parts, QuantizedLayer& layer);

/// Keys and values are computed from 16-bit rows.
void assemble_cross_attention(const LayerSource& source, const LayerScales& scales,
                              const RoundedLayer& parts, QuantizedLayer& layer);

}  // namespace embert::convert
