// SPDX-License-Identifier: Apache-2.0
// The dense layers of a layer, rounded one by one: independent of each other, and the costly part
// of a conversion.
#pragma once

#include <array>
#include <cstddef>

#include "converter/quantize/layer/layer_scales.hpp"
#include "converter/quantize/rounding/round_dense.hpp"

namespace embert::convert {

enum class LayerPart { kQkv, kOutput, kCrossQuery, kCrossKeyValue, kCrossOutput, kFfn1, kFfn2 };
inline constexpr std::size_t kLayerParts = 7;

/// Rounded parts by LayerPart; those of cross-attention are empty without it.
using RoundedLayer = std::array<RoundedDense, kLayerParts>;
inline const RoundedDense& part_of(const RoundedLayer& layer, LayerPart part) {
  return layer[static_cast<std::size_t>(part)];
}

bool has_part(const LayerSource& source, LayerPart part);

/// Takes the part's rows out of `rows`: what they hold is freed with the call.
RoundedDense round_layer_part(const LayerSource& source, const LayerScales& steps, LayerPart part,
                              LayerRows& rows, Rounding rounding);

}  // namespace embert::convert
