// SPDX-License-Identifier: Apache-2.0
// The domains of a layer's inputs, chosen from the calibrated ranges.
#pragma once

#include <string>
#include <vector>

#include "converter/model/calibration_ranges.hpp"
#include "converter/model/channel_quant.hpp"
#include "converter/model/model_config.hpp"
#include "converter/model/model_weights.hpp"

namespace embert::convert {

/// What a layer is made from; references to the float model and its calibration.
struct LayerSource {
  const StackConfig& config;
  const LayerWeights& weights;
  const LayerRanges& ranges;
  std::string name;          ///< "encoder.layer.0"
  double embedding_step;     ///< of the embedding sum
  double cross_step;         ///< of the states that cross-attention reads
  const Matrix& cross_rows;  ///< of those states
};

/// Domains of the inputs and of the activation's output. `warnings` gets a line where values must
/// be cut off.
LayerScales plan_layer(const LayerSource& source, std::vector<std::string>& warnings);

/// Real value of a unit of attention's 16-bit values, made by `weight` from `input`.
double value_step(float largest, const Matrix& weight, const ChannelQuant& input);

/// How the activation's input and output are written: units of 2^-exponent.
int activation_exponent(float largest_input);
std::int32_t activation_offset_q14(HiddenAct act);

}  // namespace embert::convert
