// SPDX-License-Identifier: Apache-2.0
// What the float model shows of a forward pass while it runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace embert::convert {

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
  kFfnSum,            ///< [tokens, H]
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

/// Shows activations of one chunk of one stack to an observer, where there is one.
struct Viewer {
  const Observer* observer;  ///< may be null
  int stack;
  std::span<const std::int32_t> lengths;

  void show(ActivationPoint point, int layer, const float* data, std::size_t rows,
            std::size_t cols) const {
    if (observer != nullptr) (*observer)({point, layer, rows, cols, data, lengths, stack});
  }
};

}  // namespace embert::convert
