// SPDX-License-Identifier: Apache-2.0
// The weights of a BERT model and its task heads in float32: four bytes a parameter. read_weights()
// (import/weights/read_weights.hpp) fills them in, checked against the config. Dimensions: H
// hidden, E embedding (H without a projection), W word (E without a projection), I intermediate, V
// vocabulary, P positions, T token types, D head size, A = heads of the layer * D. In a layer with
// bottlenecks B (StackConfig::bottleneck_size) stands for H, but in queries, keys and values as its
// BottleneckKind says.
#pragma once

#include <optional>
#include <vector>

#include "converter/model/matrix.hpp"

namespace embert::convert {

/// y = weight x + bias
struct Linear {
  Matrix weight;            ///< [outputs, inputs]
  std::vector<float> bias;  ///< [outputs]
};

/// Empty where there is none.
struct LayerNorm {
  std::vector<float> gamma;  ///< [H], of embeddings [E]
  std::vector<float> beta;   ///< [H], of embeddings [E]
  double eps = 0;            ///< 0: StackConfig::layer_norm_eps

  bool is_there() const { return !gamma.empty(); }
  double eps_or(double of_config) const { return eps > 0 ? eps : of_config; }
};

/// Self-attention or cross-attention.
struct AttentionWeights {
  Linear query;       ///< [A, H]
  Linear key, value;  ///< [A, H]; of cross-attention [A, StackConfig::cross_hidden_size]
  Linear out;         ///< [H, A]
  std::vector<float> residual_gain;  ///< [H] sum = out + gain * block's input; empty: ones
  /// [2 P - 1, D] relative positions of self-attention: row P - 1 + d serves a query that stands d
  /// tokens after its key. Empty with absolute positions. The name is that of the file's tensor.
  Matrix distance_embedding;
};

struct FeedForwardWeights {
  LayerNorm ffn_norm;                ///< makes the feed-forward block's input
  Linear ffn_up;                     ///< [I, H]
  std::optional<Linear> ffn_gate;    ///< [I, H] with StackConfig::gated_ffn
  Linear ffn_down;                   ///< [H, I]
  std::vector<float> residual_gain;  ///< [H] as AttentionWeights::residual_gain
};

/// A dense layer of a bottleneck and the LayerNorm behind it.
struct BottleneckInput {
  Linear dense;  ///< [B, H]
  LayerNorm norm;
};

/// The dense layers between the hidden state and the blocks of a layer, which have B =
/// StackConfig::bottleneck_size values in place of H.
struct BottleneckWeights {
  BottleneckInput input;      ///< makes the rows that the blocks add to
  BottleneckInput query_key;  ///< with BottleneckKind::kShared makes the input of query and key
  LayerNorm widening_norm;    ///< makes the input of `output`
  Linear output;              ///< [H, B]
  std::vector<float> residual_gain;  ///< [H] sum = output + gain * hidden state; empty: ones
};

/// A layer has two blocks, attention and feed-forward; with cross-attention between them, three.
/// Each block reads a LayerNorm of the residual sum and adds its output to form the next sum: to
/// the block's input in post-LayerNorm stacks, to the previous sum in pre-LayerNorm stacks. So
/// norms are named by the block that reads them, whichever module of the file holds them. The base
/// is the first feed-forward network, mostly the only one.
struct LayerWeights : FeedForwardWeights {
  AttentionWeights attention;
  LayerNorm cross_norm;                     ///< makes the input of cross-attention's query
  std::optional<AttentionWeights> cross;    ///< absent without cross-attention
  std::vector<FeedForwardWeights> stacked;  ///< feed-forward networks behind the first
  std::optional<BottleneckWeights> bottleneck;

  const FeedForwardWeights& ffn(std::size_t index) const {
    return index == 0 ? *this : stacked[index - 1];
  }
};

/// input of the first layer = dense norm(embedding sum)
struct EmbeddingProjection {
  LayerNorm norm;  ///< of E values
  Linear dense;    ///< [H, E]
};

struct StackWeights {
  Matrix word_embeddings;                 ///< [V, W], StackConfig::embedding_scale applied
  std::optional<Linear> word_projection;  ///< [H, W], with trigrams [H, 3 W]
  /// [P, E], P = max_position_embeddings; empty where relative or rotary; with padding_position_id
  /// one row more
  Matrix position_embeddings;
  Matrix score_bias;             ///< [heads, 2 P - 1]: column P - 1 + key - query; or empty
  Matrix token_type_embeddings;  ///< [T, E]
  std::optional<EmbeddingProjection> projection;
  /// [num_hidden_layers] make the input of query, key and value of each layer. Absent in the first
  /// layer with a projection, or with neither pre-LayerNorm nor embedding_layer_norm: there the
  /// projection or the embedding sum itself is the input.
  std::vector<std::optional<LayerNorm>> input_norms;
  std::vector<LayerWeights> layers;  ///< by StackConfig::weights_of
  LayerNorm final_norm;              ///< makes the last hidden state
};

/// A head's dense layer before the activation function, and the LayerNorm behind that.
struct HeadTransform {
  Linear dense;                   ///< [H, H]
  std::optional<LayerNorm> norm;  ///< [H]
};

/// logits = E norm(act(transform hidden)) + bias, or E hidden + bias without a transform, where E
/// are the output embeddings.
struct LanguageHead {
  std::optional<Linear> transform;          ///< [E, H]
  LayerNorm norm;                           ///< with a transform, of E values
  std::optional<Matrix> output_embeddings;  ///< [V, E]; absent: the last stack's word embeddings
  std::vector<float> bias;                  ///< [V]
};

struct ModelWeights {
  std::vector<StackWeights> stacks;              ///< as ModelConfig::stacks
  std::optional<Linear> projection;              ///< [cross_hidden_size, H of the encoder]
  std::optional<HeadTransform> pooler;           ///< of PooledConfig
  std::optional<Linear> classifier;              ///< [labels, H], reads the pooled vector
  std::optional<HeadTransform> token_transform;  ///< makes the rows that token_classifier reads
  std::optional<Linear> token_classifier;        ///< [labels, H], reads every token
  std::optional<LanguageHead> language_head;
};

}  // namespace embert::convert
