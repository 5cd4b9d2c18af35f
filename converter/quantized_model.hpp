// SPDX-License-Identifier: Apache-2.0
// A quantised model as plain numbers, before packing: the contents of the blob's sections
// (runtime/format/blob_format.hpp) with weights row by row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/format/blob_format.hpp"

namespace embert::convert {

/// Outputs are padded to 16 with zeros; vectors that a layer does not have are empty.
struct QuantizedDense {
  std::size_t outputs = 0;  ///< a multiple of 16
  std::size_t inputs = 0;
  std::vector<std::int8_t> weights;      ///< [outputs, inputs] in -127..127
  std::vector<std::int32_t> bias;        ///< [outputs]
  std::vector<std::int32_t> multiplier;  ///< [outputs]
  std::vector<std::int32_t> residual;    ///< [outputs]
  std::vector<std::int32_t> constant;    ///< [outputs]
};

struct QuantizedNorm {
  BlobNorm numbers{};
  std::vector<std::int32_t> gain, bias;  ///< [H]
};

struct QuantizedLayer {
  BlobLayer numbers{};  ///< its norms repeat those below
  QuantizedNorm input_norm, attention_norm;
  QuantizedDense qkv;                             ///< for each head N(D) queries, keys, values
  std::vector<std::uint32_t> score_multipliers;   ///< [heads]
  std::vector<std::int32_t> distance_caps;        ///< [heads]
  std::vector<std::int32_t> context_multipliers;  ///< [heads][N(D)]
  QuantizedDense output, ffn1, ffn2;
};

struct QuantizedHead {
  BlobHeadDense numbers{};
  QuantizedDense dense;
};

struct QuantizedModel {
  std::uint32_t hidden_size = 0, head_size = 0, vocab_size = 0, max_positions = 0,
                type_vocab_size = 0;
  std::uint32_t activation = kActivationGelu;
  std::uint32_t problem = kProblemSingleLabel;
  std::uint32_t num_labels = 0;
  float hidden_scale = 1, pooled_scale = 1, logits_scale = 1;

  std::vector<std::int8_t> word_embeddings;    ///< [V, H]
  std::vector<std::int32_t> word_multipliers;  ///< [V]
  std::vector<std::int16_t> positions;         ///< [P, H]
  std::vector<std::int16_t> segments;          ///< [T, H]
  std::vector<QuantizedLayer> layers;
  QuantizedNorm output_norm;
  std::optional<QuantizedHead> pooler, classifier;
};

}  // namespace embert::convert
