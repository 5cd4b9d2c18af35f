// SPDX-License-Identifier: Apache-2.0
// One stack from float32 to integers: first the scales of all activations, then, with rounded
// weights, the integers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "converter/model/conversion.hpp"
#include "converter/quantize/layer/assemble_layer.hpp"
#include "converter/quantize/task_heads/quantize_dense16.hpp"

namespace embert::convert {

/// All references must outlive the scales made from them.
struct StackSource {
  const StackConfig& config;
  const StackWeights& weights;
  const StackRanges& ranges;
  double cross_scale;  ///< of the encoder states that cross-attention reads, 0 without it
  std::string prefix;  ///< before the layers' names in messages
  std::optional<Precision> precision;  ///< none where the blob can not have BlobPlanes
};

/// Scales that the blob holds are float32 values.
struct StackScales {
  StackSource source;
  double embedding_scale = 1;        ///< of the embedding sum, with a word projection of its input
  double sum_scale = 1;              ///< of the embedding sum
  double hidden_scale = 1;           ///< of the last hidden state
  std::vector<LayerSource> sources;  ///< by StackConfig::weights_of
  std::vector<LayerScales> layers;   ///< by StackConfig::weights_of
};

StackScales choose_stack_scales(const StackSource& source, std::vector<std::string>& warnings);

/// Appends each layer's errors to `errors`.
QuantizedStack assemble_stack(const StackScales& scales, const std::vector<RoundedLayer>& layers,
                              const Dense16Rounding& rounding, std::vector<LayerErrors>& errors);

}  // namespace embert::convert
