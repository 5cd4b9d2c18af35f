// SPDX-License-Identifier: Apache-2.0
// The input of a model: token ids of texts, and for two stacks of their sources.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace embert::convert {

/// Texts one after the other, without padding. Optional members are empty where they are absent.
struct TokenBatch {
  std::vector<std::int32_t> ids;       ///< [tokens of all texts]; empty with inputs_embeds
  std::vector<std::int32_t> type_ids;  ///< optional [tokens]: all 0
  std::vector<std::int32_t> lengths;   ///< tokens of each text, at least 1 each

  std::vector<std::int32_t> position_ids{};  ///< optional [tokens]: 0, 1, 2, ... in each text
  std::vector<float> inputs_embeds{};        ///< optional [tokens, H], replaces word embeddings
  /// Optional [tokens]: 0 hides a token from every query of its text. A query from which all keys
  /// are hidden attends to all of them evenly, as in transformers; in a causal stack to all keys up
  /// to its own.
  std::vector<std::uint8_t> key_mask{};
  /// Optional, of each text [length, length], one after the other: 0 hides a key from a query.
  std::vector<std::uint8_t> query_key_mask{};
  /// Optional [sum of num_heads_of_layer]: a factor on the attention probabilities of each
  /// attention head, layer after layer; it serves self-attention and cross-attention.
  std::vector<float> head_mask{};

  // For cross-attention: the source of each text.
  std::vector<float> encoder_states{};                ///< [source tokens, cross_hidden_size]
  std::vector<std::int32_t> source_lengths{};         ///< at least 1 each
  std::vector<std::uint8_t> source_key_mask{};        ///< optional [source tokens]
  std::vector<std::uint8_t> source_query_key_mask{};  ///< optional, of each text [length, source]
};

/// The input of all stacks of a model.
struct ModelBatch {
  ModelBatch() = default;
  /// Not explicit: most models read texts alone.
  ModelBatch(TokenBatch texts_alone) : texts(std::move(texts_alone)) {}
  ModelBatch(TokenBatch targets, TokenBatch their_sources)
      : texts(std::move(targets)), sources(std::move(their_sources)) {}

  TokenBatch texts;    ///< of the last stack; a lone decoder's texts bring their encoder states
  TokenBatch sources;  ///< of the encoder, one for each text; empty with one stack

  std::size_t tokens() const { return texts.ids.size() + sources.ids.size(); }
  /// The input of stack `number` of `stacks`.
  const TokenBatch& of_stack(std::size_t number, std::size_t stacks) const {
    return number + 1 == stacks ? texts : sources;
  }
};

/// Sum of lengths.
std::size_t token_count(const std::vector<std::int32_t>& lengths);

/// Parts of up to `texts` texts, in order. Masks, position ids and inputs_embeds are left out.
std::vector<TokenBatch> cut_batch(const TokenBatch& batch, std::size_t texts);
std::vector<ModelBatch> cut_batch(const ModelBatch& batch, std::size_t texts);

}  // namespace embert::convert
