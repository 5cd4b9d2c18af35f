// SPDX-License-Identifier: Apache-2.0
// The activations that the float model shows to an observer during a forward pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace embert::convert {

/// Where in the network an activation was taken, in the order of computation. A sum is a residual
/// sum (see LayerWeights). A = attention heads of the layer * head size.
enum class ActivationPoint {
  // Of a stack; layer is 0:
  kEmbeddingSum,     ///< [tokens, E] word + segment + position, before LayerNorm
  kWordVectors,      ///< [tokens, W or 3 W] input of the word projection; only with one
  kWordSum,          ///< [tokens, H] its output
  kEmbeddingNormed,  ///< [tokens, E] LayerNorm of it, input of the projection; only with one
  kCrossStates,  ///< [source tokens, cross_hidden_size] input of every layer's cross key and value
  // Of each layer:
  kLayerInput,  ///< [tokens, H] input of query, key and value
  // Of each layer with bottlenecks; inside it B stands for H:
  kIntraSum,          ///< [tokens, B] before LayerNorm
  kIntraInput,        ///< [tokens, B] rows to which the blocks add
  kQueryKeySum,       ///< [tokens, B] before LayerNorm; only with BottleneckKind::kShared
  kQueryKeyInput,     ///< [tokens, B] input of query and key; only with BottleneckKind::kShared
  kBottleneckOutput,  ///< [tokens, B] input of the dense layer back to the hidden state
  kBottleneckSum,     ///< [tokens, H]
  // Of each layer, self-attention:
  kQuery,         ///< [tokens, A] with bias; turned by rotary positions
  kKey,           ///< [tokens, A] with bias; turned by rotary positions
  kValue,         ///< [tokens, A] with bias
  kContext,       ///< [tokens, A] input of AttentionWeights::out
  kAttentionSum,  ///< [tokens, H]
  // Of each layer, cross-attention:
  kCrossInput,    ///< [tokens, H] input of the cross query
  kCrossQuery,    ///< [tokens, A] with bias
  kCrossKey,      ///< [source tokens, A] with bias
  kCrossValue,    ///< [source tokens, A] with bias
  kCrossContext,  ///< [tokens, A] input of AttentionWeights::out
  kCrossSum,      ///< [tokens, H]
  // Of each layer, feed-forward:
  kFfnInput,          ///< [tokens, H] input of ffn_up
  kFfnPreactivation,  ///< [tokens, I] output of ffn_up, input of the activation function
  kFfnGate,           ///< [tokens, I] output of ffn_gate; only gated
  kFfnActivated,      ///< [tokens, I] input of ffn_down: output of the activation function, gated
                      ///< times that of ffn_gate
  kFfnSum,            ///< [tokens, H]
  // Of a stack's end and of the task heads; layer is num_hidden_layers:
  kLastHidden,   ///< [tokens, H]
  kProjected,    ///< [tokens, cross_hidden_size of the decoder] of an encoder with a projection
  kPoolerInput,  ///< [texts, H] first token or mean of the tokens
  kPoolerSum,    ///< [texts, H] before the activation function
  kPooled,       ///< [texts, H]
  kLogits,       ///< [texts, labels]
  kTokenSum,     ///< [tokens, H] of a token classifier's transform, before the activation function
  kTokenInput,   ///< [tokens, H] what the token classifier reads
  kTokenLogits,  ///< [tokens, labels]
  // Of the language head, for the rows that ForwardOptions::lm_rows asks for:
  kLmInput,      ///< [rows, H] their last hidden states
  kLmTransform,  ///< [rows, E] output of the transform; only with a transform
  kLmActivated,  ///< [rows, E] output of its activation function; only with a transform
  kLmNormed,     ///< [rows, E] output of its LayerNorm; only with a transform
  kLmLogits      ///< [rows, V]
};

/// One activation; valid during the observer's call.
struct Activation {
  ActivationPoint point;
  int layer;
  std::size_t rows;
  std::size_t cols;
  const float* data;  ///< [rows, cols]
  std::size_t ffn;    ///< which of the layer's feed-forward networks
  /// Tokens of each text that the rows belong to; at points with source tokens, of each source.
  std::span<const std::int32_t> lengths;
  int stack;  ///< index into ModelConfig::stacks
};
/// Called in the thread of forward(). A large batch runs in several chunks of whole texts: the
/// observer sees all points of one chunk, then all points of the next.
using Observer = std::function<void(const Activation&)>;

/// Shows the activations of one chunk in one stack to an observer, if there is one.
struct Viewer {
  const Observer* observer;  ///< may be null
  int stack;
  std::span<const std::int32_t> lengths;
  std::size_t ffn = 0;

  void show(ActivationPoint point, int layer, const float* data, std::size_t rows,
            std::size_t cols) const {
    if (observer == nullptr) return;
    (*observer)({.point = point,
                 .layer = layer,
                 .rows = rows,
                 .cols = cols,
                 .data = data,
                 .ffn = ffn,
                 .lengths = lengths,
                 .stack = stack});
  }
};

}  // namespace embert::convert
