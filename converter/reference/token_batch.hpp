// SPDX-License-Identifier: Apache-2.0
// What goes into a forward pass of the float model and what comes out of it.
#pragma once

#include <cstdint>
#include <vector>

namespace embert::convert {

/// Texts one after the other, without padding. What is optional is empty where it is absent.
struct TokenBatch {
  std::vector<std::int32_t> ids;       ///< [tokens of all texts]; empty with inputs_embeds
  std::vector<std::int32_t> type_ids;  ///< optional [tokens]: all 0
  std::vector<std::int32_t> lengths;   ///< tokens of each text, at least 1 each

  std::vector<std::int32_t> position_ids{};  ///< optional [tokens]: 0, 1, 2, ... in each text
  std::vector<float> inputs_embeds{};        ///< optional [tokens, H], in place of word vectors
  /// Optional [tokens]: 0 hides a token from every query of its text. A query from which all keys
  /// are hidden attends all of them evenly, as in transformers; in a causal stack all up to itself.
  std::vector<std::uint8_t> key_mask{};
  /// Optional, of each text [length, length], one after the other: 0 hides a key from a query.
  std::vector<std::uint8_t> query_key_mask{};
  /// Optional: a factor on the attention probabilities, of self- and cross-attention, for every
  /// head of the first layer, then of the second ... ([sum of num_heads_of_layer]).
  std::vector<float> head_mask{};

  // For cross-attention: the source of each text.
  std::vector<float> encoder_states{};                ///< [source tokens, cross_hidden_size]
  std::vector<std::int32_t> source_lengths{};         ///< at least 1 each
  std::vector<std::uint8_t> source_key_mask{};        ///< optional [source tokens]
  std::vector<std::uint8_t> source_query_key_mask{};  ///< optional, of each text [length, source]
};

/// What forward() gives beside the last hidden state and the pooled heads.
struct ForwardOptions {
  bool hidden_states = false;
  bool attentions = false;
  /// Tokens of the batch, in rising order, whose language head is computed.
  std::vector<std::int32_t> lm_rows{};
};

/// Empty where the model has no such head or it was not asked for.
struct ForwardOutput {
  std::vector<float> last_hidden_state;  ///< [tokens, H]
  std::vector<float> pooled;             ///< [texts, H], tanh
  std::vector<float> logits;             ///< [texts, labels]
  std::vector<float> token_logits;       ///< [tokens, labels]
  std::vector<float> lm_logits;          ///< [lm_rows, V]
  /// [layers + 1] of [tokens, H]: input of the first layer, then what each layer gives on:
  /// post-LayerNorm its normalised output, pre-LayerNorm the residual sum.
  std::vector<std::vector<float>> hidden_states;
  /// [layers] of each text [heads of the layer, length, length], times the head mask.
  std::vector<std::vector<float>> attentions;
  /// [layers] of each text [heads, length, source length].
  std::vector<std::vector<float>> cross_attentions;
};

}  // namespace embert::convert
