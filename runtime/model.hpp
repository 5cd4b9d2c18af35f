// SPDX-License-Identifier: Apache-2.0
// An opened model: where the parts of a checked blob lie. Views only, nothing is copied.
#pragma once

#include "embert/embert.h"
#include "kernels/fixed_point.hpp"
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

struct Norm {
  const int32_t* gain;  ///< [H]
  const int32_t* bias;  ///< [H]
  int64_t epsilon_n2;
  int32_t shift;
};

/// One encoder layer, as the paper has it.
struct Layer {
  size_t num_heads;
  size_t intermediate_size;
  Norm input_norm;  ///< makes the input of this layer from the sum before it
  Dense qkv;        ///< columns: a head's queries, keys, values, each N(D); then the next head
  Requantize query, key, value;       ///< multipliers of head 0; a head further they lie 3 N(D) on
  const uint32_t* score_multipliers;  ///< [num_heads]
  const int32_t* distance_caps;       ///< [num_heads]
  Requantize context;                 ///< multipliers [num_heads][N(D)]
  ResidualDense output;
  Norm attention_norm;
  Dense ffn1;
  Activation activation;
  ResidualDense ffn2;
};

Layer model_layer(const Model& model, size_t layer);
/// The LayerNorm behind the last layer.
Norm model_output_norm(const Model& model);

/// A head's dense layer on a 16-bit row.
struct HeadDense {
  Dense dense;
  int32_t join_shift;
};
HeadDense model_pooler(const Model& model);
HeadDense model_classifier(const Model& model);

/// The tables of kernels/tables.hpp with a layer's exponent.
Activation model_activation(uint32_t kind, int32_t exponent);

/// Contents of a section that is not one a layer.
const uint8_t* model_section(const Model& model, BlobSectionKind kind);
size_t model_section_bytes(const Model& model, BlobSectionKind kind);

}  // namespace embert
