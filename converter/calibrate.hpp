// SPDX-License-Identifier: Apache-2.0
// First pass over the calibration texts: how far every activation reaches. The second pass, which
// needs the steps chosen from it, is calibration_rows.hpp.
#pragma once

#include <cstddef>
#include <vector>

#include "converter/float_model.hpp"

namespace embert::convert {

/// A LayerNorm's output, channel by channel.
struct ChannelRange {
  std::vector<float> lowest, highest;  ///< [H]
  std::vector<double> first_mean;      ///< [H] mean over the first tokens of the texts
};

struct LayerRanges {
  ChannelRange input;      ///< of query, key and value
  ChannelRange ffn_input;  ///< of the intermediate
  // largest magnitudes:
  std::vector<float> context;     ///< [H]
  std::vector<float> query, key;  ///< [heads]
  float value = 0;
  float attention_sum = 0, output_sum = 0;
  float preactivation = 0;
};

struct Ranges {
  std::size_t texts = 0;
  float embedding_sum = 0;  ///< largest magnitudes, as the next two
  float last_hidden = 0;
  float logits = 0;
  std::vector<LayerRanges> layers;
  Matrix first_hidden;  ///< [texts, H] last hidden state of the first tokens
  Matrix pooled;        ///< [texts, H]; empty without classifier
};

/// Runs `model` over `texts` (at least one).
Ranges measure_ranges(FloatModel& model, const BertConfig& config, const TokenBatch& texts);

}  // namespace embert::convert
