// SPDX-License-Identifier: Apache-2.0
// One stack from float32 to integers: first the steps of everything static, then, with rounded
// weights, the numbers.
#pragma once

#include <string>
#include <vector>

#include "converter/quantize/layer/assemble_layer.hpp"

namespace embert::convert {

/// Steps are those that the blob tells: float32 values.
struct StackPlan {
  double embedding_step = 1;
  double hidden_step = 1;  ///< of the last hidden state
  double cross_step = 0;   ///< of the states that cross-attention reads
  std::vector<LayerSource> sources;
  std::vector<LayerScales> steps;
};

/// `prefix` stands before the layers' names in messages. All references must outlive the plan.
StackPlan plan_stack(const StackConfig& config, const StackWeights& weights,
                     const StackRanges& ranges, double cross_step, const std::string& prefix,
                     std::vector<std::string>& warnings);

/// Error of a layer's outputs from rounding its weights: root of the error's power over the
/// output's, on calibration rows.
struct LayerErrors {
  double qkv = 0, output = 0, ffn_up = 0, ffn_down = 0;
  double cross_query = 0, cross_key_value = 0, cross_output = 0;  ///< 0 without cross-attention
  std::size_t copies = 0;  ///< intermediate channels added for wide columns
};

/// Appends each layer's errors to `errors`.
QuantizedStack assemble_stack(const StackConfig& config, const StackWeights& weights,
                              const StackPlan& plan, const std::vector<RoundedLayer>& layers,
                              std::vector<LayerErrors>& errors);

}  // namespace embert::convert
