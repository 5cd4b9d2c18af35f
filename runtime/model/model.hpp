// SPDX-License-Identifier: Apache-2.0
// An opened model: where the parts of a checked blob lie. Views only, nothing is copied.
#pragma once

#include "embert/embert.h"
#include "kernels/arithmetic/fixed_point.hpp"
#include "runtime/format/blob_format.hpp"
#include "runtime/tokenizer/tokenizer.hpp"

namespace embert {

struct Model {
  const uint8_t* blob;
  const BlobHeader* header;
  const BlobSection* sections;  ///< [header->section_count]
  uint32_t isa_mask;
  uint32_t has_tokenizer;
  TokenizerView tokenizer;  ///< where has_tokenizer
};

/// The public object's contents, copied: an array of integers may not be read as a struct.
Model model_of(const embert_model& object);

/// A dense layer: dst = lhs * weights, then a factor for each column.
struct Dense {
  const int8_t* weights;  ///< n16k4 [N(n)] x [K(k)]
  const int32_t* bias;    ///< [N(n)], null where a constant follows the requantisation
  const int32_t* sums;    ///< [N(n)]
  Requantize factor;      ///< [N(n)]
};

/// A dense layer whose sum ends in the residual.
struct ResidualDense {
  Dense dense;
  const int32_t* residual;  ///< [N(H)]
  const int32_t* constant;  ///< [N(H)]
};

/// A dense layer on 16-bit rows in two planes.
struct Dense16 {
  Dense dense;
  int32_t join_shift;
};

/// gain is null where there is no LayerNorm.
struct Norm {
  const int32_t* gain;  ///< [H]
  const int32_t* bias;  ///< [H]
  int64_t epsilon_n2;
  int32_t shift;
};

/// How a head's queries attend keys and values; multipliers of head 0.
struct Attention {
  Requantize query, key, value;
  const uint32_t* score_multipliers;  ///< [num_heads]
  const int32_t* score_caps;          ///< [num_heads]
  Requantize context;                 ///< multipliers [num_heads][N(D)]
  ResidualDense out;
};

/// Relative positions in the scores; table is null without.
struct Distances {
  const int8_t* table;  ///< n16k4 [N(2P-1)] x [K(D)]: column P-1 + key - query
  const int32_t* sums;  ///< [N(2P-1)]
  Requantize query;     ///< ratios [num_heads] of queries times table to a score's unit
  Requantize key;       ///< of keys times table; multiplier is null where only queries count
};

/// A channel's hidden state out of the domain that the layer reads; null where they are the same.
struct ChannelRescale {
  const int32_t* multiplier;  ///< [H]
  const int32_t* offset;      ///< [H]
};

/// One layer, as the paper has it.
struct Layer {
  size_t num_heads;
  size_t intermediate_size;
  Norm input_norm;  ///< makes the input of this layer from the sum before it
  ChannelRescale rescale_channels;
  uint32_t hidden_scale;  ///< float32 bits
  Dense qkv;  ///< columns: a head's queries, keys, values, each N(D); then the next head
  Attention self;
  Distances distances;
  Norm attention_norm;
  Dense cross_query;        ///< columns: N(D) a head; as all of cross, null without cross-attention
  Dense16 cross_key_value;  ///< columns: a head's keys, values, each N(D); then the next head
  Attention cross;
  Norm cross_norm;
  Dense ffn_up;
  Activation activation;
  ResidualDense ffn_down;
};

/// Embeddings, layers and last LayerNorm of an encoder or a decoder.
struct Stack {
  const BlobStack* config;
  size_t first_section;             ///< in the table of sections
  const int8_t* words;              ///< [V][H]
  const int32_t* word_multipliers;  ///< [V]
  const int16_t* positions;         ///< [P][H]
  const int16_t* segments;          ///< [T][H]
  Norm final_norm;
};
Stack model_stack(const Model& model, size_t index);
Layer model_layer(const Model& model, const Stack& stack, size_t layer);
/// The stack that the heads stand on.
Stack model_last_stack(const Model& model);

Dense16 model_pooler(const Model& model);
Dense16 model_classifier(const Model& model);
Dense16 model_token_classifier(const Model& model);
Dense16 model_projection(const Model& model);

/// The language model's head.
struct LmHead {
  Dense16 transform;  ///< where there is one, as the next two
  Activation activation;
  Norm norm;
  const int8_t* rows;          ///< s8 [V][H]
  const int32_t* multipliers;  ///< [V]
  const int32_t* bias;         ///< [V]
  int32_t shift;
};
LmHead model_lm(const Model& model);

/// The tables of kernels/arithmetic/tables.hpp with a layer's exponent.
Activation model_activation(uint32_t kind, int32_t exponent);

/// Contents of a section of the model (kFirstModelSection and up).
const uint8_t* model_section(const Model& model, BlobSectionKind kind);
size_t model_section_bytes(const Model& model, BlobSectionKind kind);

}  // namespace embert
