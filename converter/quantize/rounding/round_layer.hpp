// SPDX-License-Identifier: Apache-2.0
// Rounds the dense layers of a layer one by one. They do not depend on each other; this is the
// costly part of a conversion, and the parts run in parallel.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "converter/model/channel_quant.hpp"
#include "converter/quantize/layer/layer_source.hpp"
#include "converter/quantize/rounding/round_dense.hpp"

namespace embert::convert {

enum class LayerPart {
  kQkv,  ///< without the values where kValue has them
  kAttnOut,
  kCrossQuery,
  kCrossKeyValue,
  kCrossOut,
  kValue,  ///< with BottleneckKind::kShared
  kBottleneckInput,
  kBottleneckQueryKey,
  kBottleneckOutput,
  kFfnUp,
  kFfnDown
};
inline constexpr std::size_t kLayerParts = 11;

/// One of the layer's dense layers.
struct LayerDense {
  LayerPart part;
  std::size_t ffn = 0;  ///< of kFfnUp and kFfnDown: which feed-forward network
};
std::vector<LayerDense> dense_of_layer(const LayerSource& source);

/// Rounded parts by LayerPart and feed-forward network; those that the layer does not have are
/// empty.
struct RoundedLayer {
  std::array<std::vector<RoundedDense>, kLayerParts> parts;

  RoundedDense& at(LayerDense dense) {
    return parts[static_cast<std::size_t>(dense.part)][dense.ffn];
  }
  const RoundedDense& at(LayerDense dense) const {
    return parts[static_cast<std::size_t>(dense.part)][dense.ffn];
  }
};
RoundedLayer unrounded_layer(const LayerSource& source);
inline const RoundedDense& part_of(const RoundedLayer& layer, LayerPart part, std::size_t ffn = 0) {
  return layer.at({.part = part, .ffn = ffn});
}

/// Takes the part's rows out of `rows` and frees them, so that memory falls as parts are done; the
/// rows that several parts read stay.
RoundedDense round_layer_part(const LayerSource& source, const LayerScales& scales,
                              LayerDense dense, LayerRows& rows, Rounding rounding);

}  // namespace embert::convert
