// SPDX-License-Identifier: Apache-2.0
// The names of a family's tensors as patterns. The defaults are those of BERT in transformers; a
// family sets what differs. Names of dense layers and LayerNorms stand without ".weight" and
// ".bias"; an empty name means that the family has no such tensor.
#pragma once

#include <string>
#include <string_view>

namespace embert::convert {

/// `name` with what stands before it.
inline std::string joined(std::string prefix, std::string_view name) { return prefix.append(name); }

/// Attention of one layer, behind the layer's prefix.
struct AttentionNames {
  std::string_view query, key, value, out;
  std::string_view fused;     ///< query, key and value one below the other, in place of the three
  std::string_view norm;      ///< post-LayerNorm stacks: behind the block's residual sum
  std::string_view pre_norm;  ///< pre-LayerNorm stacks: before the block
};

struct FeedForwardNames {
  std::string_view up = "intermediate.dense";  ///< gated: what is activated, then the factors
  std::string_view down = "output.dense";
  std::string_view norm = "output.LayerNorm";            ///< as in AttentionNames
  std::string_view pre_norm = "intermediate.LayerNorm";  ///< as in AttentionNames
};

/// A dense layer between hidden state and the narrow rows inside a layer, and its norm.
struct BottleneckNames {
  std::string_view dense, norm;
};

/// The tensors of one stack.
struct StackNames {
  std::string_view prefix = "bert.";  ///< before all others in files of models with a task head
  std::string_view word_embeddings = "embeddings.word_embeddings.weight";
  std::string_view position_embeddings = "embeddings.position_embeddings.weight";
  std::string_view token_type_embeddings = "embeddings.token_type_embeddings.weight";
  std::string_view embedding_norm = "embeddings.LayerNorm";
  std::string_view embedding_projection = {};  ///< where the embeddings have another width
  std::string_view word_projection = {};       ///< where the words have another width
  std::string_view layers = "encoder.layer.";  ///< then the number of the layer and a dot
  /// Not empty: the number is that of a group of layers, and this stands behind its dot, then the
  /// number of the layer in the group and a dot.
  std::string_view layers_of_group = {};
  AttentionNames attention = {.query = "attention.self.query",
                              .key = "attention.self.key",
                              .value = "attention.self.value",
                              .out = "attention.output.dense",
                              .fused = {},
                              .norm = "attention.output.LayerNorm",
                              .pre_norm = "attention.LayerNorm"};
  std::string_view relative_positions = "attention.self.distance_embedding.weight";
  std::string_view score_bias;  ///< of the stack: [buckets, heads]
  AttentionNames cross = {.query = "crossattention.self.query",
                          .key = "crossattention.self.key",
                          .value = "crossattention.self.value",
                          .out = "crossattention.output.dense",
                          .fused = {},
                          .norm = "crossattention.output.LayerNorm",
                          .pre_norm = "crossattention.LayerNorm"};
  FeedForwardNames ffn;
  /// With several feed-forward networks in a layer: behind the layer's prefix, then the number and
  /// a dot. The last network has no prefix of its own.
  std::string_view stacked_ffns = {};
  BottleneckNames bottleneck_input = {}, bottleneck_query_key = {}, bottleneck_output = {};
  std::string_view final_norm = "LayerNorm";
};

/// The dense layer between the last hidden state and a classifier, and its LayerNorm.
struct TransformNames {
  std::string_view dense;
  bool in_stack = false;  ///< `dense` has the stack's prefix
  std::string_view norm;
};

/// The pooler of BERT and its nearest kin.
inline constexpr TransformNames kPoolerNames = {
    .dense = "pooler.dense", .in_stack = true, .norm = {}};

/// logits = dense(transform(...)); without a transform the classifier reads the hidden state.
struct ClassifierNames {
  std::string_view dense;
  TransformNames transform;
};

struct LanguageHeadNames {
  TransformNames transform;
  std::string_view bias;  ///< with ".bias" or what stands for it
  std::string_view
      decoder;  ///< output embeddings: decoder.weight, and decoder.bias, a copy of bias
  /// The matrix [rest of the width, vocabulary] that continues word embeddings narrower than the
  /// hidden state, to make the output embeddings of them.
  std::string_view rest = {};
};

/// The task heads, by task. They stand at the root of the file or, of a pair, behind "decoder.".
struct HeadNames {
  TransformNames pooler;  ///< of the bare model
  ClassifierNames sequence, next_sentence, multiple_choice;
  ClassifierNames token, answers, replaced;
  LanguageHeadNames language;
};

}  // namespace embert::convert
