// SPDX-License-Identifier: Apache-2.0
// The weights of a BERT encoder and its head in float32, as named and shaped by transformers,
// checked against the config. Memory for a model is four bytes a parameter.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "converter/read_config.hpp"
#include "converter/weight_files.hpp"

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

struct LayerWeights {
  Linear query, key, value;  ///< [H, H]
  Linear attention_output;   ///< [H, H]
  LayerNorm attention_norm;
  Linear intermediate;  ///< [I, H]
  Linear output;        ///< [H, I]
  LayerNorm output_norm;
};

struct BertWeights {
  Matrix word_embeddings;        ///< [V, H]
  Matrix position_embeddings;    ///< [P, H], P = BertConfig::max_position_embeddings
  Matrix token_type_embeddings;  ///< [T, H]
  LayerNorm embedding_norm;
  std::vector<LayerWeights> layers;
  std::optional<Linear> pooler;      ///< [H, H]
  std::optional<Linear> classifier;  ///< [labels, H], with HeadKind::kSequenceClassification only
};

/// Picks the tensors that `config` needs out of `files`: names with or without "bert.", LayerNorm
/// as weight/bias or gamma/beta. Appends to `warnings` what was left over. Throws ConvertError for
/// a tensor that is missing, has another shape or type, or holds a value that is not finite.
BertWeights read_weights(const WeightFiles& files, const BertConfig& config,
                         std::vector<std::string>& warnings);

}  // namespace embert::convert
