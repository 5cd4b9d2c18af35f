// SPDX-License-Identifier: Apache-2.0
// First pass over the calibration texts: how far every activation of the stacks reaches. What the
// heads read is in calibrate_heads.hpp; the second pass, which needs the steps chosen from this
// one, is calibration_rows.hpp.
#pragma once

#include <cstddef>
#include <vector>

#include "converter/calibrate/calibrate_heads.hpp"
#include "converter/calibrate/model_batch.hpp"

namespace embert::convert {

/// A LayerNorm's output, channel by channel.
struct ChannelRange {
  std::vector<float> lowest, highest;  ///< [H]
  std::vector<double> first_mean;      ///< [H] mean over the first tokens of the texts
};

/// Largest magnitudes in self- or cross-attention; empty where there is none.
struct AttentionRanges {
  std::vector<float> query, key;  ///< [heads]
  float value = 0;
  std::vector<float> context;  ///< [heads * head size]
  float sum = 0;               ///< of the residual behind it
};

struct LayerRanges {
  ChannelRange input;        ///< of query, key and value
  ChannelRange cross_input;  ///< of the cross query; empty without cross-attention
  ChannelRange ffn_input;    ///< of the intermediate
  AttentionRanges self, cross;
  // largest magnitudes:
  float preactivation = 0;
  float output_sum = 0;
};

struct StackRanges {
  float embedding_sum = 0;  ///< largest magnitudes, as the next two
  float last_hidden = 0;
  float cross_states = 0;
  Matrix cross_rows;  ///< [rows, cross_hidden_size] of the states that cross-attention reads
  std::vector<LayerRanges> layers;
};

struct Ranges {
  std::vector<StackRanges> stacks;
  HeadRanges heads;
};

/// Runs `model` over `batch` (at least one text). Throws ConvertError where its values are not
/// finite.
Ranges measure_ranges(FloatModel& model, const ModelConfig& config, const ModelBatch& batch);

/// Moves both ends of every LayerNorm's output outwards by `headroom` of its range: what has 8 bits
/// for what calibration saw and none for more. 0 changes nothing.
void widen(Ranges& ranges, double headroom);

}  // namespace embert::convert
