// SPDX-License-Identifier: Apache-2.0
// Relative positions: their vectors in 8 bits with one scale for the layer, and for each attention
// head the ratio that brings a product with them to the scale of the head's scores.
#pragma once

#include <string>
#include <vector>

#include "converter/model/matrix.hpp"
#include "converter/model/model_config.hpp"
#include "converter/model/quantized_model.hpp"

namespace embert::convert {

/// Scales of the 8-bit queries and keys.
struct HeadScales {
  std::vector<double> query, key;  ///< [heads]
};

struct RelativePositionTable {
  QuantizedRelativePositions record;  ///< the ratios are still empty
  double scale = 1;                   ///< of the table
  /// Lower bound of the keys' scales, and of the queries' with PositionKind::kRelativeKeyQuery:
  /// with it no score reaches kScoreBound, whatever the text.
  double least_head_scale = 0;
};

/// `embedding`: AttentionWeights::distance_embedding. The blob's table has its rows in reverse.
RelativePositionTable quantize_relative_positions(const Matrix& embedding, PositionKind kind);

/// Adds the ratios to the table's record and their shifts to `layer`.
void encode_relative_ratios(RelativePositionTable& table, PositionKind kind,
                            const HeadScales& scales, const std::string& name, BlobLayer& layer);

}  // namespace embert::convert
