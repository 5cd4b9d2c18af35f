// SPDX-License-Identifier: Apache-2.0
// Rounds the dense layers of a layer one by one. They do not depend on each other; this is the
// costly part of a conversion, and the parts run in parallel.
#pragma once

#include <array>
#include <cstddef>

#include "converter/model/channel_quant.hpp"
#include "converter/quantize/layer/layer_source.hpp"
#include "converter/quantize/rounding/round_dense.hpp"

namespace embert::convert {

enum class LayerPart { kQkv, kAttnOut, kCrossQuery, kCrossKeyValue, kCrossOut, kFfnUp, kFfnDown };
inline constexpr std::size_t kLayerParts = 7;

/// Rounded parts by LayerPart; those of cross-attention are empty without it.
using RoundedLayer = std::array<RoundedDense, kLayerParts>;
inline const RoundedDense& part_of(const RoundedLayer& layer, LayerPart part) {
  return layer[static_cast<std::size_t>(part)];
}

bool has_part(const LayerSource& source, LayerPart part);

/// Takes the part's rows out of `rows` and frees them, so that memory falls as parts are done.
RoundedDense round_layer_part(const LayerSource& source, const LayerScales& scales, LayerPart part,
                              LayerRows& rows, Rounding rounding);

}  // namespace embert::convert
