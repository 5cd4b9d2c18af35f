// SPDX-License-Identifier: Apache-2.0
// The weights of a BERT model and its heads in float32, checked against the config. Files name and
// shape them as transformers does. Memory for a model is four bytes a parameter.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "converter/import/config/read_config.hpp"
#include "converter/import/weights/weight_files.hpp"

namespace embert::convert {

/// Row-major.
struct Matrix {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::vector<float> data;  ///< [rows, cols]

  const float* row(std::size_t r) const { return data.data() + r * cols; }
};

/// y = weight x + bias
struct Linear {
  Matrix weight;            ///< [outputs, inputs]
  std::vector<float> bias;  ///< [outputs]
};

struct LayerNorm {
  std::vector<float> gamma;  ///< [H]
  std::vector<float> beta;   ///< [H]
};

/// Self- or cross-attention; A = heads of the layer * head size.
struct AttentionWeights {
  Linear query;       ///< [A, H]
  Linear key, value;  ///< [A, H]; of cross-attention [A, BertConfig::cross_hidden_size]
  Linear output;      ///< [H, A]
  /// [2 P - 1, D] of self-attention with relative positions: row P - 1 + d is of a query that
  /// stands d behind its key. Else empty.
  Matrix distance_embedding;
};

/// A layer is two blocks, attention and feed-forward, or three with cross-attention between them.
/// Each reads a LayerNorm of the residual sum and adds its output to form the next sum. That holds
/// for post- and pre-LayerNorm alike; they differ in what is added to: post the block's input, pre
/// the sum itself. So LayerNorms are kept by what reads them, not by where files put them.
struct LayerWeights {
  /// Makes the input of query, key and value. Absent in the first layer of a stack with neither
  /// pre-LayerNorm nor embedding_layer_norm: the embedding sum itself is the input.
  std::optional<LayerNorm> input_norm;
  AttentionWeights attention;
  LayerNorm cross_norm;  ///< makes the input of the cross-attention's query
  std::optional<AttentionWeights> cross;
  LayerNorm ffn_norm;   ///< makes the input of the intermediate
  Linear intermediate;  ///< [I, H]
  Linear output;        ///< [H, I]
};

struct StackWeights {
  Matrix word_embeddings;        ///< [V, H], BertConfig::embedding_scale applied
  Matrix position_embeddings;    ///< [P, H], P = max_position_embeddings; empty where relative
  Matrix token_type_embeddings;  ///< [T, H]
  std::vector<LayerWeights> layers;
  LayerNorm output_norm;  ///< makes the last hidden state
};

/// logits = decoder norm(act(transform hidden)) + bias; without transform decoder hidden + bias.
struct LanguageHead {
  std::optional<Linear> transform;  ///< [H, H]
  LayerNorm norm;                   ///< with a transform
  std::optional<Matrix> decoder;    ///< [V, H]; absent: the last stack's word embeddings
  std::vector<float> bias;          ///< [V]
};

struct ModelWeights {
  std::vector<StackWeights> stacks;    ///< as ModelConfig::stacks
  std::optional<Linear> projection;    ///< [cross_hidden_size, H of the encoder], between stacks
  std::optional<Linear> pooler;        ///< [H, H]
  std::optional<Linear> classifier;    ///< [labels, H], reads the pooled vector
  std::optional<Linear> token_labels;  ///< [labels, H], reads every token
  std::optional<LanguageHead> language;
};

/// Picks the tensors that `config` needs out of `files`: names with or without "bert.", LayerNorm
/// as weight/bias or gamma/beta. Appends to `warnings` what was left over. Throws ConvertError for
/// a tensor that is missing, has another shape or type, or holds a value that is not finite.
ModelWeights read_weights(const WeightFiles& files, const ModelConfig& config,
                          std::vector<std::string>& warnings);

}  // namespace embert::convert
