// SPDX-License-Identifier: Apache-2.0
// The result of the first calibration pass (calibrate/measure_ranges.hpp): how far every activation
// reaches, and rows of the task heads' inputs. Dimensions are those of model_weights.hpp.
#pragma once

#include <vector>

#include "converter/model/matrix.hpp"

namespace embert::convert {

/// A LayerNorm's output, channel by channel.
struct ChannelRange {
  std::vector<float> lowest, highest;  ///< [H]
  std::vector<double> first_mean;      ///< [H] mean over the first tokens of the texts
};

/// Largest magnitudes in self-attention or cross-attention; empty where there is none.
struct AttentionRanges {
  std::vector<float> query, key;  ///< [heads]
  /// [A] by channel, turned; empty without rotary positions
  std::vector<float> query_channels, key_channels;
  float value = 0;
  std::vector<float> context;  ///< [A]
  float sum = 0;               ///< of the residual sum after the block
};

struct FeedForwardRanges {
  ChannelRange ffn_input;  ///< of ffn_up
  // Largest magnitudes:
  float preactivation = 0;       ///< input of the activation function
  float ffn_sum = 0;             ///< residual sum after the feed-forward block
  std::vector<float> activated;  ///< [I] input of ffn_down
  std::vector<float> gate;       ///< [I] of ffn_gate; empty if not gated
};

/// Of a layer's weights: over all layers that share them.
struct LayerRanges : FeedForwardRanges {
  ChannelRange input;        ///< of query, key and value
  ChannelRange cross_input;  ///< of cross-attention's query; empty without cross-attention
  AttentionRanges self, cross;
  std::vector<FeedForwardRanges> stacked;  ///< feed-forward networks behind the first
  // With bottlenecks, else empty: the rows to which the blocks add, the input of query and key, the
  // input of the dense layer back; and the largest magnitudes of the sums before their LayerNorms
  // and of the sum with the hidden state.
  ChannelRange intra, query_key, bottleneck_output;
  float intra_sum = 0, query_key_sum = 0, output_sum = 0;

  FeedForwardRanges& ffn(std::size_t index) { return index == 0 ? *this : stacked[index - 1]; }
  const FeedForwardRanges& ffn(std::size_t index) const {
    return index == 0 ? *this : stacked[index - 1];
  }
};

struct StackRanges {
  // Largest magnitudes:
  float embedding_sum = 0;
  float word_sum = 0;  ///< output of the word projection
  float last_hidden = 0;
  float cross_states = 0;  ///< of the encoder states that cross-attention reads
  Matrix cross_rows;       ///< [rows, cross_hidden_size] a sample of those states
  Matrix embedding_rows;   ///< [rows, E] a sample of the projection's input; empty without it
  Matrix word_rows;        ///< [rows, W or 3 W] the same of the word projection's input
  std::vector<LayerRanges> layers;  ///< by StackConfig::weights_of
};

/// Of the task heads and of the projection between two stacks. Empty and 0 where the model has no
/// such head.
struct HeadRanges {
  Matrix pooler_input;    ///< [texts, H] last hidden state of the first tokens, or of their mean
  Matrix pooled;          ///< [texts, H]
  Matrix token_hidden;    ///< [rows, H] last hidden state, with a token classifier
  Matrix token_input;     ///< [rows, H] what the token classifier reads
  Matrix lm_input;        ///< [rows, H] last hidden state
  Matrix lm_normed;       ///< [rows, H] output of the transform's LayerNorm, with a transform
  Matrix encoder_hidden;  ///< [rows, H of the encoder] its last hidden state, of two stacks
  // Largest magnitudes:
  float pooler_sum = 0, token_sum = 0;  ///< before the activation function
  float logits = 0, token_logits = 0;
  float lm_transform = 0;  ///< before the activation function
  float lm_logits = 0;
  float projected = 0;
};

struct CalibrationRanges {
  std::vector<StackRanges> stacks;
  HeadRanges heads;
};

}  // namespace embert::convert
