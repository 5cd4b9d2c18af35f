// SPDX-License-Identifier: Apache-2.0
// The float32 weights and calibrated ranges from which a layer is quantised.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "converter/model/calibration_ranges.hpp"
#include "converter/model/conversion.hpp"
#include "converter/model/model_config.hpp"
#include "converter/model/model_weights.hpp"

namespace embert::convert {

/// Refers to the float model and its calibration.
struct LayerSource {
  const StackConfig& config;
  const LayerWeights& weights;
  const LayerRanges& ranges;
  /// That make the layer's input: more than one where layers share the weights, none where an
  /// embedding projection makes it or the layer reads the embedding sum itself.
  std::vector<const LayerNorm*> input_norms;
  bool reads_embedding_sum;
  std::string name;          ///< "encoder.layer.0", for messages
  double embedding_scale;    ///< of the embedding sum
  double cross_scale;        ///< of the encoder states that cross-attention reads
  const Matrix& score_bias;  ///< StackWeights::score_bias
  const Matrix& cross_rows;  ///< [rows, cross_hidden_size] calibration rows of those states
  bool adds_to_input;        ///< StackConfig::adds_to_input
  std::optional<Precision> precision;  ///< none where the blob can not have BlobPlanes

  bool may_have_planes() const { return precision.has_value(); }
  /// All dense layers will read 16 bits.
  bool wide_inputs() const { return precision == Precision::kHigh; }
  /// The first feed-forward layer may read inputs twice, for a few more multiply-adds.
  bool may_copy_inputs() const { return precision.has_value() && precision != Precision::kFast; }
};

}  // namespace embert::convert
