// SPDX-License-Identifier: Apache-2.0
// The embedding tables in integers (kernels/contracts/embedding.hpp).
#pragma once

#include "converter/model/model_config.hpp"
#include "converter/model/model_weights.hpp"
#include "converter/model/quantized_model.hpp"

namespace embert::convert {

/// Scale of the 16-bit embedding sum: it holds twice the largest calibrated sum, and any sum of
/// three rows of the tables.
double embedding_scale(const StackConfig& config, const StackWeights& weights, float largest_sum);

/// The word embeddings with the sum's `scale`, each row with a scale of its own.
void quantize_words(const Matrix& tokens, double scale, QuantizedStack& out);

/// The tables with the sum's `scale`. With relative positions the table of positions holds segment
/// 0 alone.
void quantize_embeddings(const StackConfig& config, const StackWeights& weights, double scale,
                         QuantizedStack& out);

}  // namespace embert::convert
