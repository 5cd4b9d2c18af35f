// SPDX-License-Identifier: Apache-2.0
// Static embeddings as integers: 8-bit rows, each with a scale of its own. No calibration.
#pragma once

#include "converter/model/model_config.hpp"
#include "converter/model/model_weights.hpp"
#include "converter/model/quantized_model.hpp"

namespace embert::convert {

QuantizedStack quantize_static(const StackConfig& config, const StackWeights& weights);

}  // namespace embert::convert
