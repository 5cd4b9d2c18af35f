// SPDX-License-Identifier: Apache-2.0
// The float32 reference of a BERT model: calibration watches it, verification compares with it.
// Texts of different lengths run side by side without padding: all their rows go through a
// fully-connected layer at once, attention stays within a text. The bits do not depend on the
// number of threads or on which texts run together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "converter/read_config.hpp"
#include "converter/read_weights.hpp"

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

/// Where in the network an activation was taken, in the order of computation. A sum is a residual
/// sum as LayerWeights describes it; A = heads of the layer * head size.
enum class ActivationPoint {
  // of a stack; layer 0:
  kEmbeddingSum,  ///< [tokens, H] word + segment + position, before LayerNorm
  kCrossStates,   ///< [source tokens, cross_hidden_size] input of every layer's cross key and value
  // of each layer:
  kLayerInput,    ///< [tokens, H] input of query, key and value
  kQuery,         ///< [tokens, A] with bias
  kKey,           ///< [tokens, A]
  kValue,         ///< [tokens, A]
  kContext,       ///< [tokens, A] input of the attention output
  kAttentionSum,  ///< [tokens, H]
  // ... with cross-attention:
  kCrossInput,    ///< [tokens, H] input of the cross query
  kCrossQuery,    ///< [tokens, A]
  kCrossKey,      ///< [source tokens, A]
  kCrossValue,    ///< [source tokens, A]
  kCrossContext,  ///< [tokens, A]
  kCrossSum,      ///< [tokens, H]
  // ... always:
  kFfnInput,          ///< [tokens, H] input of the intermediate
  kFfnPreactivation,  ///< [tokens, I] intermediate before the activation function
  kFfnActivated,      ///< [tokens, I] after it, input of the output
  kOutputSum,         ///< [tokens, H]
  // of the stack's end and the heads; layer is num_hidden_layers:
  kLastHidden,   ///< [tokens, H]
  kProjected,    ///< [tokens, cross_hidden_size of the decoder] of an encoder with a projection
  kPooled,       ///< [texts, H]
  kLogits,       ///< [texts, labels]
  kTokenLogits,  ///< [tokens, labels]
  // ... for the rows that ForwardOptions::lm_rows asks for:
  kLmInput,      ///< [rows, H] their last hidden states
  kLmTransform,  ///< [rows, H] transform before the activation function; with a transform only
  kLmActivated,  ///< [rows, H] after it, before LayerNorm; with a transform only
  kLmNormed,     ///< [rows, H] LayerNorm of it; with a transform only
  kLmLogits      ///< [rows, V]
};

/// What an observer sees; valid during the call.
struct Activation {
  ActivationPoint point;
  int layer;
  std::size_t rows;
  std::size_t cols;
  const float* data;  ///< [rows, cols]
  /// Of the texts that run together here; at points with source tokens, of their sources.
  std::span<const std::int32_t> lengths;
  int stack;  ///< as in ModelConfig::stacks
};
/// Called in the thread of forward(). A large batch runs in several chunks of whole texts: all
/// points of one chunk, then all of the next.
using Observer = std::function<void(const Activation&)>;

/// What forward() gives beside the last hidden state and the pooled heads.
struct ForwardOptions {
  bool hidden_states = false;
  bool attentions = false;
  /// Tokens of the batch, in rising order, whose language head is computed.
  std::vector<std::int32_t> lm_rows{};
};

class FloatModel {
 public:
  /// Copies what it needs of both. `threads` >= 1.
  FloatModel(const ModelConfig& config, const ModelWeights& weights, int threads);
  ~FloatModel();
  FloatModel(FloatModel&&) noexcept;
  FloatModel& operator=(FloatModel&&) noexcept;

  /// Empty where the model has no such head or it was not asked for.
  struct Output {
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
  /// A model of one stack; with cross-attention the batch has encoder_states. Not for several
  /// threads at once. Throws ConvertError for ids, lengths, masks ... that do not fit.
  Output forward(const TokenBatch& batch, const Observer* observer = nullptr,
                 const ForwardOptions& options = {});

  struct PairOutput {
    Output encoder, decoder;
  };
  /// A model of two stacks: the encoder over `source`, then the decoder over `target`, text by
  /// text; `target` has no encoder_states, and source_key_mask is the key_mask of `source`. The
  /// heads are in `decoder`.
  PairOutput forward_pair(const TokenBatch& source, const TokenBatch& target,
                          const Observer* observer = nullptr, const ForwardOptions& options = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace embert::convert
