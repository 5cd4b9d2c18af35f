// SPDX-License-Identifier: Apache-2.0
// Relative positions: the vectors of all distances in 8 bits with one step a layer, and for each
// head the ratio that brings a product with them into the unit of the head's scores.
#pragma once

#include <string>
#include <vector>

#include "converter/model/model_config.hpp"
#include "converter/model/model_weights.hpp"
#include "converter/model/quantized_model.hpp"

namespace embert::convert {

struct DistanceTable {
  QuantizedRelativePositions record;  ///< the ratios are still empty
  double step = 1;                    ///< real value of a unit of the table
  /// Of 8-bit keys, and of queries where keys count, too: with it no score reaches kScoreBound,
  /// whatever the text.
  double least_head_step = 0;
};

/// `distances` is AttentionWeights::distance_embedding; the blob's table runs the other way.
DistanceTable quantize_distances(const Matrix& distances, PositionKind kind);

/// Adds the ratios to the table's numbers and their shifts to `layer`; `query_steps` and
/// `key_steps` are real values of a unit of the 8-bit queries and keys of each head.
void encode_ratios(DistanceTable& table, PositionKind kind, const std::vector<double>& query_steps,
                   const std::vector<double>& key_steps, const std::string& name, BlobLayer& layer);

}  // namespace embert::convert
