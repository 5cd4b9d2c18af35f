// SPDX-License-Identifier: Apache-2.0
// A quantised model before packing: the contents of the blob's sections
// (runtime/format/blob_format.hpp), weights row by row. Dimensions are those of model_weights.hpp;
// N(x) is x rounded up to a multiple of 16.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/format/blob_format.hpp"

namespace embert::convert {

/// Outputs are padded to a multiple of 16 with zeros. A layer has `bias`, or `residual` and
/// `constant`; the others are empty.
struct QuantizedDense {
  std::size_t outputs = 0;  ///< a multiple of 16
  std::size_t inputs = 0;
  std::vector<std::int8_t> weights;      ///< [outputs, inputs] in -127..127
  std::vector<std::int32_t> bias;        ///< [outputs] with the sum's scale
  std::vector<std::int32_t> multiplier;  ///< [outputs] of the sum
  std::vector<std::int32_t> residual;    ///< [outputs] multiplier of the residual, Q16
  std::vector<std::int32_t> constant;    ///< [outputs] added to the residual sum
};

/// A dense layer on 16-bit rows (kernels/contracts/convert_rows.hpp): task heads, and the
/// projection between two stacks.
struct QuantizedDense16 {
  BlobDense16 record{};
  QuantizedDense dense;
};

/// Empty where there is no LayerNorm.
struct QuantizedNorm {
  BlobNorm record{};
  std::vector<std::int32_t> gain, bias;  ///< [H], of embeddings [E]
};

/// Self-attention or cross-attention. The shifts are in BlobLayer::self and cross.
struct QuantizedAttention {
  std::vector<std::uint32_t> score_multipliers;   ///< [heads]
  std::vector<std::int32_t> score_caps;           ///< [heads]
  std::vector<std::int32_t> context_multipliers;  ///< [heads, N(D)]
  QuantizedDense out;
};

/// Relative positions in a layer's scores.
struct QuantizedRelativePositions {
  std::size_t columns = 0, inputs = 0;    ///< N(2P-1), D
  std::vector<std::int8_t> table;         ///< [columns, inputs]: row P-1 + key - query
  std::vector<std::int32_t> query_ratio;  ///< [heads]
  std::vector<std::int32_t> key_ratio;    ///< [heads]; empty with PositionKind::kRelativeKey
};

/// A feed-forward network behind the first of its layer.
struct QuantizedStackedFfn {
  BlobStackedFfn record{};
  QuantizedDense up, down;
  QuantizedNorm norm;
};

/// Parts of BlobLayerBottleneck.
struct QuantizedBottleneck {
  BlobLayerBottleneck record{};  ///< write_blob() fills in its norms
  QuantizedDense input, query_key, value, output;
  QuantizedNorm input_norm, query_key_norm, widening_norm;
};

/// Norms are named by the block that reads them; write_blob() maps them to the blob's sections.
struct QuantizedLayer {
  BlobLayer record{};  ///< write_blob() fills in its norms
  /// Turns the layer's input into a hidden state for callers that ask for it; empty where the
  /// residual sum is that state.
  std::vector<std::int32_t> hidden_multiplier, hidden_offset;  ///< [H]
  QuantizedDense qkv;  ///< for each attention head N(D) queries, N(D) keys, N(D) values
  QuantizedAttention self;
  std::optional<QuantizedRelativePositions> relative_positions;
  std::vector<std::int32_t> bias_ratio;  ///< [heads] of the stack's score bias, or empty
  // Cross-attention, empty without it:
  QuantizedNorm cross_norm;
  QuantizedDense cross_query;      ///< for each attention head N(D)
  QuantizedDense cross_key_value;  ///< for each attention head N(D) keys, N(D) values
  QuantizedAttention cross;
  // Feed-forward block:
  QuantizedNorm ffn_norm;
  QuantizedDense ffn_up, ffn_down;           ///< ffn_up gated: N(I) outputs, then N(I) of the gate
  std::vector<std::uint16_t> copied_inputs;  ///< that ffn_up's columns behind the others read again
  QuantizedDense ffn_down_second;            ///< of the columns behind ffn_down's inputs, or empty
  std::vector<QuantizedStackedFfn> stacked;  ///< feed-forward networks behind that one
  std::optional<QuantizedBottleneck> bottleneck;  ///< its `value` in place of that in qkv, or empty

  bool has_cross_attention() const { return cross_query.outputs > 0; }
};

/// The section of rotary positions.
struct QuantizedRotary {
  BlobRotary record{};
  std::vector<std::int32_t> multipliers;  ///< [N(D)]
  std::vector<std::int16_t> angles;       ///< [tables, P, D]
};

/// From the embeddings' width E to the hidden size.
struct QuantizedProjection {
  QuantizedNorm norm;  ///< of the embedding sum
  QuantizedDense16 dense;
};

/// The table of kSectionEmbeddings4Bit.
struct QuantizedEmbeddings4Bit {
  BlobEmbeddings4Bit record{};
  std::vector<std::uint8_t> rows;  ///< [V, word_row_bytes(E)]
};

/// From the words' width W to the hidden size.
struct QuantizedWordProjection {
  BlobWordProjection record{};
  QuantizedDense dense;
};

/// Embeddings and layers of an encoder or a decoder.
struct QuantizedStack {
  BlobStack record{};                    ///< write_blob() fills in what it can take from the layers
  std::uint32_t padding_id = 0;          ///< with kStackPaddingPosition
  std::vector<std::int32_t> score_bias;  ///< [heads, 2P-1], with kStackScoreBias
  std::vector<std::int8_t> word_embeddings;    ///< [V, W]; empty with embeddings_4bit
  std::vector<std::int32_t> word_multipliers;  ///< [V]
  std::vector<std::int16_t> positions;  ///< [P, E], with a padding id [P + 1, E]; rotary: [1, E]
  std::vector<std::int16_t> segments;   ///< [T, E]
  std::optional<QuantizedProjection> projection;           ///< without it E is H
  std::optional<QuantizedWordProjection> word_projection;  ///< without it W is E
  std::optional<BlobBottleneck> bottleneck;
  /// [num_layers] Empty: the layer has none, or uses that of another one.
  std::vector<QuantizedNorm> input_norms;
  std::vector<BlobSharedLayer> shared;  ///< [num_layers]; empty: no layers share sections
  std::vector<QuantizedLayer> layers;   ///< those with sections of their own
  QuantizedNorm final_norm;
  std::optional<BlobStatic> static_embeddings;  ///< without layers and final_norm
  std::optional<QuantizedEmbeddings4Bit> embeddings_4bit;
  std::optional<QuantizedRotary> rotary;
  std::optional<BlobLocalAttention> local_attention;
  std::vector<BlobGatedFfn> gated_ffn;       ///< [layers], or empty
  std::vector<BlobPlanes> planes;            ///< [layers], or empty
  std::vector<std::uint16_t> copied_inputs;  ///< of each layer in turn
};

/// The transform before a head's last product (BlobHeadTransform): dense, activation, LayerNorm.
struct QuantizedTransform {
  QuantizedDense16 dense;
  std::uint32_t activation = kActivationGelu;
  std::int32_t exponent = 0;  ///< the activation has the scale 2^-exponent
  QuantizedNorm norm;
};

/// The language model's head.
struct QuantizedLm {
  std::optional<QuantizedTransform> transform;
  bool own_activation = false;    ///< the transform's activation function is not the layers'
  std::vector<std::int8_t> rows;  ///< [V, E]; empty: the word embeddings
  std::vector<std::int32_t> multipliers;  ///< [V]; empty: those of the word embeddings
  std::vector<std::int32_t> bias;         ///< [V]
  std::int32_t shift = 0;
  float logits_scale = 1;
};

/// Several poolings, or dense layers behind pooling.
struct QuantizedVector {
  BlobVector record{};
  std::vector<QuantizedDense> dense;  ///< [record.num_dense]
};

struct QuantizedModel {
  std::vector<QuantizedStack> stacks;  ///< one; or the encoder, then the decoder
  std::uint32_t classifier_task = kTaskSequence, problem = kProblemSingleLabel, num_labels = 0;
  std::uint32_t token_task = kTaskTokens, num_token_labels = 0;
  std::uint32_t start_id = UINT32_MAX, end_id = UINT32_MAX;
  float pooled_scale = 1, logits_scale = 1, token_logits_scale = 1;
  bool pooled_as_is = false;  ///< the pooled vector is the first token's hidden state
  bool pooled_mean = false;   ///< it is made of the mean of the tokens
  std::optional<QuantizedTransform> pooler;  ///< exponent 0: tanh as in kSectionPooler alone
  std::optional<QuantizedTransform> token_transform;
  std::optional<QuantizedDense16> classifier, token_classifier, projection;
  std::optional<QuantizedLm> lm;
  std::optional<QuantizedVector> vector;
};

}  // namespace embert::convert
