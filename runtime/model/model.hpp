// SPDX-License-Identifier: Apache-2.0
// An opened model: pointers to the parts of a validated blob. Nothing is copied.
#pragma once

#include "embert/embert.h"
#include "kernels/arithmetic/fixed_point.hpp"
#include "kernels/arithmetic/layout.hpp"
#include "runtime/format/blob_format.hpp"
#include "runtime/model/built_flags.hpp"
#include "runtime/tokenizer/tokenizer.hpp"

namespace embert {

struct Model {
  const uint8_t* blob;
  const BlobHeader* header;
  const BlobSection* sections;  ///< [header->section_count]
  uint32_t isa_mask;
  uint32_t has_tokenizer;
  TokenizerView tokenizer;  ///< valid with has_tokenizer
};

/// A copy of what the public object holds: C++ does not allow to read its array as a struct. Of an
/// object of zeros, which was never opened, a model without sections whose header has zeros and one
/// stack.
Model model_of(const embert_model& object);
/// False for an object of zeros.
bool is_open(const Model& model);

/// How a text becomes the input of a run: with special tokens, cut to max_tokens, the longer text
/// of a pair first.
embert_tokenize_options run_tokenize_options(uint32_t max_tokens);

/// Whether the model's kernels read the order of its weights, which any engine needs.
inline bool has_kernels(const Model& model) {
  return !kOpensN8K16 || model.header->layout == kLayoutN16K4 || (model.isa_mask & kIsaI8mm) != 0;
}
/// An engine passes this order of the dense layers' weights to its GEMM. Builds without kernels for
/// n8k16 return a constant, so that the compiler drops the choice.
inline RhsOrder weight_order(const Model& model) {
  return kHasN8K16 && model.header->layout == kLayoutN8K16 ? RhsOrder::kN8K16 : RhsOrder::kN16K4;
}

/// A dense layer: dst = lhs * weights, then a factor for each column.
struct Dense {
  const int8_t* weights;  ///< [N(n)] x [K(k)] in the model's weight_order()
  const int32_t* bias;    ///< [N(n)], null in a ResidualDense, which has a constant instead
  const int32_t* sums;    ///< [N(n)] column sums of the weights
  Requantize factor;      ///< [N(n)]
};

/// A dense layer whose output is added to the residual.
struct ResidualDense {
  Dense dense;
  const int32_t* residual;  ///< [N(H)] multipliers of the residual
  const int32_t* constant;  ///< [N(H)] added after the requantisation
  bool adds_to_input;       ///< the residual is the block's input, in pre-norm too
  bool planes = false;      ///< its input goes in with 16 bits

  bool reads_planes() const { return planes; }
};

/// A dense layer on 16-bit rows, which the GEMM reads as two planes of 8 bits.
struct Dense16 {
  Dense dense;
  int32_t join_shift;  ///< of the two planes' sums
};

/// A LayerNorm; gain is null where there is none.
struct Norm {
  const int32_t* gain;  ///< [H]
  const int32_t* bias;  ///< [H]
  int64_t epsilon_n2;
  int32_t shift;
};

/// What the attention heads of a layer need beside the weights of queries, keys and values.
/// Multipliers of query, key and value are those of head 0; later heads follow at the distance of
/// the dense layer's columns.
struct Attention {
  Requantize query, key, value;
  const uint32_t* score_multipliers;  ///< [num_heads]
  const int32_t* score_caps;          ///< [num_heads]
  Requantize context;                 ///< multipliers [num_heads][N(D)]
  ResidualDense out;
  bool probability_planes;  ///< its exponentials have 14 bits
  bool score_planes;        ///< its queries and keys have 16 bits; their factors are of 8 bits

  size_t planes() const { return probability_planes ? 2 : 1; }
};

/// Relative positions in the scores; table and bias are null without them.
struct RelativePositions {
  const int8_t* table;  ///< n16k4 [N(2P-1)] x [K(D)]: column P-1 + key - query
  const int32_t* sums;  ///< [N(2P-1)] column sums of the table
  /// [heads of the stack][2P-1]: column P-1 + key - query, the same for all queries; with `query`
  const int32_t* bias;
  Requantize query;  ///< [num_heads] (query times table, or bias) to the scale of a score
  Requantize key;    ///< [num_heads] (key times table); multiplier null where only queries count
};

/// Rotary positions; angles is null without them.
struct Rotary {
  const int16_t* angles;  ///< [P][D]: D/2 cosines, then D/2 sines, Q14
  Requantize factor;      ///< [N(D)] from a turned value to an 8-bit operand

  bool turns() const { return built(kStackRotary) && angles != nullptr; }
};

/// Takes a layer's input back from per-channel scales to one scale, for callers who ask for hidden
/// states. multiplier is null where the input has one scale already.
struct ChannelRescale {
  const int32_t* multiplier;  ///< [H]
  const int32_t* offset;      ///< [H]
};

/// Inputs that a dense layer reads a second time, in columns behind those of all inputs.
struct CopiedInputs {
  const uint16_t* inputs;  ///< [count]
  size_t count;
};

/// A feed-forward network.
struct FeedForward {
  Norm norm;  ///< makes its input
  size_t intermediate_size;
  Dense up;             ///< gated: [2 N(I)], the columns of the activation, then those of the gate
  CopiedInputs copied;  ///< of `up`
  int32_t gate_shift;   ///< of the product; negative: not gated
  Activation activation;
  ResidualDense down;
  size_t first_columns;  ///< of `down`, the others are down_second's; 0: it has them all
  ResidualDense down_second;
  bool up_planes;  ///< the input of `up` goes in with 16 bits

  bool up_reads_planes() const { return up_planes; }
  bool has_column_groups() const { return first_columns > 0; }
  bool is_gated() const { return built(kStackGatedFfn) && gate_shift >= 0; }
};

/// One layer. Each LayerNorm is named by the block that reads its output.
struct Layer {
  size_t index;
  size_t num_heads;
  Norm input_norm;  ///< makes this layer's input from the residual sum of the layer before
  ChannelRescale hidden_rescale;
  uint32_t hidden_scale;  ///< float32 bits: scale of this layer's input as a hidden state
  Dense qkv;  ///< columns: a head's queries, keys, values, each N(D); then the next head; with
              ///< LayerBottleneck::value no values
  BlobPlaneRows qkv_planes;  ///< rows that it reads with 16 bits
  Attention self;
  RelativePositions relative_positions;
  Rotary rotary;
  size_t reach;             ///< largest distance to a key that a query sees; SIZE_MAX: no limit
  Norm cross_norm;          ///< makes the input of cross-attention
  Dense cross_query;        ///< columns: N(D) a head
  Dense16 cross_key_value;  ///< columns: a head's keys, values, each N(D); then the next head
  Attention cross;
  FeedForward ffn;  ///< the first one

  bool qkv_reads_planes(BlobPlaneRows rows) const { return qkv_planes == rows; }
  /// Without it, all cross members are zero.
  bool has_cross_attention() const { return cross_query.weights != nullptr; }
};

/// The dense layers and norms that a layer with bottlenecks has beside its blocks; query_key and
/// value are zero but with kBottleneckShared.
struct LayerBottleneck {
  ResidualDense input;  ///< [N(B)] x [K(H)] makes the rows that the layer's blocks add to
  Norm input_norm;
  ResidualDense query_key;  ///< [N(B)] x [K(H)] makes the rows that queries and keys read
  Norm query_key_norm;
  Dense value;           ///< [A N(D)] x [K(H)]
  ResidualDense output;  ///< [N(H)] x [K(B)]
  Norm widening_norm;    ///< makes its input
};

/// From embeddings of another width to the hidden state. dense.weights is null without it.
struct EmbeddingProjection {
  Norm norm;  ///< of the embedding sum
  Dense16 dense;
};

/// Word embeddings of 4 bits (kernels/arithmetic/word_4bit.hpp). rows is null without them.
struct Embeddings4Bit {
  const int8_t* levels;  ///< [16]
  const uint8_t* rows;   ///< [V][word_row_bytes(E)]
};

/// From word vectors of another width to the hidden size. words is 0 without it.
struct WordProjection {
  Dense16 dense;
  size_t words;  ///< vectors side by side: 1, or 3 of the next token, this one, the previous one
};

/// The embeddings and the last LayerNorm of an encoder or a decoder.
struct Stack {
  const BlobStack* config;
  size_t first_section;           ///< in the table of sections
  size_t embedding_size;          ///< E: H without a projection of the sum
  size_t word_size;               ///< W: E without a projection of the words
  const int8_t* word_embeddings;  ///< [V][W]; null with embeddings_4bit
  Embeddings4Bit embeddings_4bit;
  const int32_t* word_multipliers;  ///< [V]
  const int16_t* positions;         ///< [P][E], the row of segment 0 added; rotary: [1][E]; with
                                    ///< padding_id [P + 1][E]: the last row is that id's
  size_t position_stride;           ///< E; rotary and static: 0
  const int16_t* segments;          ///< [T][E], differences to segment 0
  Norm final_norm;                  ///< makes the last hidden state
  uint32_t padding_id;              ///< does not count in positions; UINT32_MAX: none such
  const BlobStatic* static_embeddings;  ///< null in a stack with layers
  // Null in stacks without them:
  const int32_t* score_bias;  ///< as RelativePositions::bias
  EmbeddingProjection projection;
  WordProjection word_projection;
  const BlobSharedLayer* shared;  ///< [num_layers]
  const BlobBottleneck* bottleneck;
  const BlobRotary* rotary;
  const BlobLocalAttention* local_attention;
  const BlobGatedFfn* gated_ffn;  ///< [num_layers]
  const BlobPlanes* planes;       ///< [num_layers], then u16 copied inputs of each layer in turn

  bool has_projection() const {
    return built(kStackEmbeddingProjection) && projection.dense.dense.weights != nullptr;
  }
  bool has_word_projection() const {
    return built(kStackWordProjection) && word_projection.words > 0;
  }
  bool has_bottleneck() const { return built(kStackBottleneck) && bottleneck != nullptr; }
  /// B: width of the rows that the blocks of a layer add to.
  size_t intra_size() const {
    return has_bottleneck() ? bottleneck->intra_size : config->hidden_size;
  }
};
Stack model_stack(const Model& model, size_t index);
Layer model_layer(const Model& model, const Stack& stack, size_t layer);
/// Of a layer of a stack with bottlenecks.
LayerBottleneck model_bottleneck(const Model& model, const Stack& stack, size_t layer);
/// Feed-forward network 1 .. num_ffns - 1 of a layer.
FeedForward model_stacked_ffn(const Model& model, const Stack& stack, size_t layer, size_t index);
/// The stack that the task heads stand on.
Stack model_last_stack(const Model& model);

/// The transform of a hidden state before a head's last product: a dense layer, an activation
/// function and LayerNorm. dense.dense.weights is null where the hidden state stays as it is.
struct HeadTransform {
  Dense16 dense;
  Activation activation;
  Norm norm;       ///< gain is null where there is none
  int32_t factor;  ///< without LayerNorm: of the activation's value, so that it fills 16 bits
};
/// Of the pooled vector.
HeadTransform model_pooler(const Model& model);
/// Whether the pooled vector is made of the mean of the tokens, not of the first one.
bool pools_mean(const Model& model);
/// Of the token classifier's rows.
HeadTransform model_token_transform(const Model& model);
Dense16 model_classifier(const Model& model);
Dense16 model_token_classifier(const Model& model);
Dense16 model_projection(const Model& model);

/// The language model's head: a transform, then a product with a row for each token of the
/// vocabulary.
struct LmHead {
  HeadTransform transform;
  size_t size;                 ///< of a row: E, or H where the word embeddings have that width
  const int8_t* rows;          ///< [V][size]: the word embeddings, or rows of its own
  const int32_t* multipliers;  ///< [V]
  const int32_t* bias;         ///< [V]
  int32_t shift;
};
LmHead model_lm(const Model& model);

/// The tables of kernels/arithmetic/tables.hpp with a layer's exponent.
Activation model_activation(uint32_t kind, int32_t exponent);

/// Contents of a section that a model has once (kFirstModelSection and up).
const uint8_t* model_section(const Model& model, BlobSectionKind kind);
size_t model_section_bytes(const Model& model, BlobSectionKind kind);
/// Contents of an optional section; null where the blob does not have it.
const uint8_t* model_optional_section(const Model& model, BlobOptionalKind kind, size_t layer = 0);

/// The texts that the model was trained to find before a text.
struct Prompts {
  uint32_t count;
  uint32_t default_prompt;  ///< UINT32_MAX: none
  const char* strings;      ///< name, text, name, text ..., each zero-terminated
};
Prompts model_prompts(const Model& model);

/// Null where a vector is one pooling (BlobHeader::pooling) of the last hidden state.
const BlobVector* model_vector(const Model& model);
/// Dense layer number `index` behind pooling; its input has `inputs` values.
struct VectorDense {
  Dense16 layer;
  size_t inputs;
};
VectorDense model_vector_dense(const Model& model, size_t index);
/// Values of the vector of a text.
size_t model_vector_size(const Model& model);

}  // namespace embert
