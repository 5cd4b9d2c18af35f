// SPDX-License-Identifier: Apache-2.0
// The embedding tables in integers (kernels/contracts/embedding.hpp).
#pragma once

#include "converter/model/calibration_ranges.hpp"
#include "converter/model/channel_quant.hpp"
#include "converter/model/model_config.hpp"
#include "converter/model/model_weights.hpp"
#include "converter/model/quantized_model.hpp"

namespace embert::convert {

/// Scale of the 16-bit embedding sum: it holds twice the largest calibrated sum, and any sum of
/// three rows of the tables.
double embedding_sum_scale(const StackConfig& config, const StackWeights& weights,
                           const StackRanges& ranges);

/// Scale of the 16-bit word vectors that a word projection reads: it holds any of them.
double word_scale(const StackWeights& weights);

/// Raises the scale of the first layer's input so far that positions and segments fit 16 bits.
void make_room_for_tables(const StackWeights& weights, ChannelQuant& input);

/// The word embeddings with the sum's `scale`, each row with a scale of its own.
void quantize_words(const Matrix& tokens, double scale, QuantizedStack& out);

/// Positions and segments with the scales of the 16-bit `sum`, without its offsets. With relative
/// positions the table of positions holds segment 0 alone.
void quantize_tables(const StackConfig& config, const StackWeights& weights,
                     const ChannelQuant& sum, QuantizedStack& out);

}  // namespace embert::convert
