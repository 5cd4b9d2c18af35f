// SPDX-License-Identifier: Apache-2.0
// The embedding tables in integers (kernels/contracts/embedding.hpp).
#pragma once

#include "converter/model/model_config.hpp"
#include "converter/model/model_weights.hpp"
#include "converter/model/quantized_model.hpp"

namespace embert::convert {

/// The step of the embedding sum: room for twice what calibration saw, and for every row there is.
double embedding_step(const StackConfig& config, const StackWeights& weights, float largest_sum);

/// The tables in units of `step`. With relative positions the table of positions holds segment 0
/// only.
void quantize_embeddings(const StackConfig& config, const StackWeights& weights, double step,
                         QuantizedStack& out);

}  // namespace embert::convert
