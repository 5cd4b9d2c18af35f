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

/// Without gain where there is no LayerNorm.
struct QuantizedNorm {
  BlobNorm record{};
  std::vector<std::int32_t> gain, bias;  ///< [H]
};

/// Shifts are in BlobLayer::self and cross.
struct QuantizedAttention {
  std::vector<std::uint32_t> score_multipliers;   ///< [heads]
  std::vector<std::int32_t> score_caps;           ///< [heads]
  std::vector<std::int32_t> context_multipliers;  ///< [heads][N(D)]
  QuantizedDense out;
};

/// Relative positions in the scores of a layer.
struct QuantizedRelativePositions {
  std::size_t columns = 0, inputs = 0;    ///< N(2P-1), D
  std::vector<std::int8_t> table;         ///< [columns][inputs]: row P-1 + key - query
  std::vector<std::int32_t> query_ratio;  ///< [heads]
  std::vector<std::int32_t> key_ratio;    ///< [heads]; empty where only queries count
};

struct QuantizedLayer {
  BlobLayer record{};        ///< its norms repeat those below
  QuantizedNorm input_norm;  ///< makes the input of query, key and value
  QuantizedNorm cross_norm;  ///< makes the input of cross-attention's query; empty without
  QuantizedNorm ffn_norm;    ///< makes the feed-forward block's input
  /// Of the input as a hidden state; empty where they are the same.
  std::vector<std::int32_t> hidden_multiplier, hidden_offset;  ///< [H]
  QuantizedDense qkv;  ///< for each head N(D) queries, keys, values
  QuantizedAttention self;
  std::optional<QuantizedRelativePositions> relative_positions;
  QuantizedDense cross_query;      ///< for each head N(D); empty without cross-attention, as cross
  QuantizedDense cross_key_value;  ///< for each head N(D) keys, values
  QuantizedAttention cross;
  QuantizedDense ffn_up, ffn_down;

  /// The norms by their places in the blob (kSectionNormAfterAttn, kSectionNormAfterCross).
  bool has_cross() const { return cross_query.outputs > 0; }
  const QuantizedNorm& norm_after_attn() const { return has_cross() ? cross_norm : ffn_norm; }
  QuantizedNorm norm_after_cross() const { return has_cross() ? ffn_norm : QuantizedNorm(); }
};

/// Embeddings and layers of an encoder or a decoder.
struct QuantizedStack {
  BlobStack record{};  ///< num_heads and intermediate_size are filled in when written
  std::vector<std::int8_t> word_embeddings;    ///< [V, H]
  std::vector<std::int32_t> word_multipliers;  ///< [V]
  std::vector<std::int16_t> positions;         ///< [P, H]
  std::vector<std::int16_t> segments;          ///< [T, H]
  std::vector<QuantizedLayer> layers;
  QuantizedNorm final_norm;
};

/// A dense layer on 16-bit rows.
struct QuantizedDense16 {
  BlobDense16 record{};
  QuantizedDense dense;
};

/// The language model's head.
struct QuantizedLm {
  std::optional<QuantizedDense16> transform;
  QuantizedNorm norm;                     ///< behind the transform
  std::int32_t exponent = 0;              ///< of the transform's activation
  std::vector<std::int8_t> rows;          ///< [V, H]; empty: the word embeddings
  std::vector<std::int32_t> multipliers;  ///< [V]; empty: those of the words
  std::vector<std::int32_t> bias;         ///< [V]
  std::int32_t shift = 0;
  float logits_scale = 1;
};

struct QuantizedModel {
  std::vector<QuantizedStack> stacks;  ///< 1, or encoder and decoder
  std::uint32_t classifier_task = kTaskSequence, problem = kProblemSingleLabel, num_labels = 0;
  std::uint32_t token_task = kTaskTokens, num_token_labels = 0;
  std::uint32_t start_id = UINT32_MAX, end_id = UINT32_MAX;
  float pooled_scale = 1, logits_scale = 1, token_logits_scale = 1;
  std::optional<QuantizedDense16> pooler, classifier, token_classifier, projection;
  std::optional<QuantizedLm> lm;
};

}  // namespace embert::convert
