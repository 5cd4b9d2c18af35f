// SPDX-License-Identifier: Apache-2.0
// The structs of a model blob. The converter writes it, the runtime reads it; they share nothing
// else. FORMAT.md beside this file gives the meaning and the range of each field, and what a reader
// must reject. Everything is little-endian and naturally aligned. The blob and each of its sections
// start at a 64-byte aligned address.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace embert {

static constexpr uint8_t kBlobMagic[8] = {'e', 'm', 'b', 'e', 'r', 't', '\r', '\n'};
static constexpr uint32_t kBlobVersion = 4;
static constexpr uint32_t kBlobVersionWithoutOptional = 3;  ///< otherwise the same; still read
static constexpr size_t kBlobAlignment = 64;
static constexpr size_t kBlobCrcStart = 16;  ///< the checksum covers [16, blob_bytes)

/// Limits of the sizes in a valid blob.
static constexpr uint32_t kMaxStacks = 2;
static constexpr uint32_t kMaxHiddenSize = 4096;
static constexpr uint32_t kMaxLayers = 48;
static constexpr uint32_t kMaxHeads = 128;
static constexpr uint32_t kMaxHeadSize = 128;
static constexpr uint32_t kMaxIntermediateSize = 4224;  ///< split outlier channels included
static constexpr uint32_t kMaxVocabSize = 1u << 20;
static constexpr uint32_t kMaxPositions = 512;
static constexpr uint32_t kMaxTypes = 16;
static constexpr uint32_t kMaxLabels = 4096;
static constexpr uint32_t kMaxPrompts = 256;
static constexpr uint32_t kMaxPoolings = 6;  ///< of one vector, side by side
static constexpr uint32_t kMaxVectorDense = 4;
static constexpr uint32_t kMaxVectorSize = 4096;

/// Bounds of the values in sections. Within them no sum, product or shift of the kernels overflows;
/// kernels/README.md has the proof.
static constexpr int32_t kMaxWordMultiplier = 16909320;  ///< times 127 below 2^31
/// With 4 bits: times a scale of -128 and a level of 127 below 2^31.
static constexpr int32_t kMaxWordMultiplier4Bit = 1 << 17;
static constexpr int32_t kMaxDenseBias = (1 << 30) - 1;
static constexpr int32_t kMaxNormBias = (1 << 29) - 1;
static constexpr int32_t kMaxResidualMultiplier = (1 << 29) - 1;
static constexpr int32_t kMaxResidualConstant = (1 << 28) - (1 << 19);
static constexpr uint32_t kMaxScoreMultiplier = 1u << 31;
/// With kStackPlanes: an exponential of 14 bits gets to 0 before its index leaves 10 bits.
static constexpr uint32_t kMinScoreMultiplier14 = 4, kMaxScoreMultiplier14 = 1u << 28;
/// Below 2^30, by which masked scores lie under all others.
static constexpr uint32_t kMaxScoreCap = (1u << 30) - (1u << 22);
/// Of a score bias: as far as the product of a query and a relative position goes.
static constexpr int32_t kMaxScoreBias = (1 << 21) - 1;
static constexpr int64_t kMaxEpsilon = int64_t{1} << 54;

/// Orders of the weights of dense layers. An engine refuses one that its kernels do not read.
enum BlobLayout : uint32_t {
  kLayoutN16K4 = 1,  ///< all kernels
  kLayoutN8K16 = 2,  ///< those of i8mm
};

enum BlobActivation : uint32_t {
  kActivationGelu = 0,
  kActivationGeluNew = 1,
  kActivationRelu = 2,
  kActivationSilu = 3,
  kActivationTanh = 4,
  kActivationCount = 5
};

enum BlobPooling : uint32_t {
  kPoolingMean = 0,
  kPoolingCls = 1,
  kPoolingMax = 2,
  kPoolingCount = 3,  ///< those above: BlobHeader::pooling
  // In BlobVector alone:
  kPoolingMeanSqrtLength = 3,  ///< the sum divided by the square root of the length
  kPoolingWeightedMean = 4,    ///< token i, counted from 1, has weight i
  kPoolingLastToken = 5,
  kVectorPoolingCount = 6
};

/// How positions enter a stack: as rows of a table in the embedding sum, or in the scores, relative
/// between query and key (Shaw et al. 2018, eq. 4; Huang et al. 2020, method 4).
enum BlobPositionKind : uint32_t {
  kPositionTable = 0,
  kPositionRelativeKey = 1,
  kPositionRelativeKeyQuery = 2,
  kPositionKindCount = 3
};

/// Properties of a stack, as bits.
enum BlobStackFlags : uint32_t {
  kStackCausal = 1,                ///< a query sees no later key; keys and values are cached
  kStackCrossAttention = 2,        ///< each layer also attends the states of an encoder
  kStackPreNorm = 4,               ///< LayerNorm before attention and feed-forward, not behind them
  kStackPaddingPosition = 8,       ///< positions are counted from an id (kSectionPaddingPosition)
  kStackScoreBias = 16,            ///< added to the scores of all layers (kSectionScoreBias)
  kStackEmbeddingProjection = 32,  ///< embeddings of another width (kSectionEmbeddingProjection)
  kStackSharedLayers = 64,         ///< layers that use others' sections (kSectionSharedLayers)
  kStackBottleneck = 128,          ///< layers as kSectionBottleneck says
  kStackWordProjection = 256,      ///< words of another width (kSectionWordProjection)
  kStackRotary = 512,              ///< queries and keys turn by their positions (kSectionRotary)
  kStackLocalAttention = 1024,     ///< most layers see near keys only (kSectionLocalAttention)
  kStackGatedFfn = 2048,           ///< a product in the feed-forward network (kSectionGatedFfn)
  kStackStatic = 4096,             ///< no layers: a vector is a mean of word embeddings
  kStackEmbeddings4Bit = 8192,     ///< word embeddings of 4 bits (kSectionEmbeddings4Bit)
  kStackEmbeddingNorm = 16384,     ///< pre-norm: the first layer's input is its first residual sum
  kStackPlanes = 32768,            ///< dense layers that read 16 bits (kSectionPlanes)
  kStackFlagsWithSection = kStackPaddingPosition | kStackScoreBias | kStackEmbeddingProjection |
                           kStackSharedLayers | kStackBottleneck | kStackWordProjection |
                           kStackRotary | kStackLocalAttention | kStackGatedFfn | kStackStatic |
                           kStackEmbeddings4Bit | kStackPlanes,
  kStackFlagsAll = 7 | kStackFlagsWithSection | kStackEmbeddingNorm
};

/// The task heads on the last hidden state of the last stack, as bits. A classifier needs a pooler,
/// whose output is the pooled vector: tanh of a dense layer over the first token, unless a bit says
/// otherwise.
enum BlobTaskHeads : uint32_t {
  kHeadPooler = 1,
  kHeadClassifier = 2,         ///< on the pooled vector
  kHeadTokenClassifier = 4,    ///< on each token
  kHeadLm = 8,                 ///< language model: logits over the vocabulary
  kHeadLmUntied = 16,          ///< with rows of its own instead of the word embeddings
  kHeadLmTransform = 32,       ///< with a dense layer, activation and LayerNorm before the rows
  kHeadProjection = 64,        ///< between encoder and decoder of different width
  kHeadPooledTransform = 128,  ///< the pooled vector is made as kSectionPooledTransform says
  kHeadTokenTransform =
      256,                  ///< the token classifier reads rows made as kSectionTokenTransform says
  kHeadLmActivation = 512,  ///< the LM transform's activation is that of kSectionLmActivation
  kHeadPooledAsIs = 1024,   ///< the pooled vector is the first token's hidden state: no dense layer
  kHeadVector = 1 << 16,    ///< vectors are made as BlobVector says
  kHeadAll = 2047 | kHeadVector
};

/// What the labels of the classifier mean.
enum BlobClassifierTask : uint32_t {
  kTaskSequence = 0,
  kTaskNextSentence = 1,
  kTaskMultipleChoice = 2,
  kClassifierTaskCount = 3
};
/// What the labels of the token classifier mean.
enum BlobTokenTask : uint32_t { kTaskTokens = 0, kTaskAnswer = 1, kTokenTaskCount = 2 };

/// What the classifier's logits mean: softmax over labels, a sigmoid each, or plain numbers.
enum BlobProblem : uint32_t {
  kProblemSingleLabel = 0,
  kProblemMultiLabel = 1,
  kProblemRegression = 2,
  kProblemCount = 3
};

/// Shifts of a tensor's Requantize (kernels/arithmetic/fixed_point.hpp).
struct BlobShifts {
  int32_t left;   ///< 0..15
  int32_t right;  ///< 0..31, 0 where left is not
};

/// The scalars of a LayerNorm. All zero where there is none.
struct BlobNorm {
  int64_t epsilon_n2;  ///< 1..2^54
  int32_t shift;       ///< 8..38
  uint32_t reserved;   ///< 0
};

/// The shifts of attention's tensors.
struct BlobAttention {
  BlobShifts query, key, value, context, out;
};

struct BlobLayer {
  uint32_t num_heads;           ///< attention heads of this layer, after pruning
  uint32_t intermediate_size;   ///< split outlier channels included
  int32_t activation_exponent;  ///< 5..12
  uint32_t hidden_scale;        ///< float32 bits: scale of this layer's input as a hidden state
  BlobAttention self, cross;    ///< cross all zero without cross-attention
  BlobShifts query_relative, key_relative;  ///< zero without relative positions
  BlobShifts ffn_up, ffn_down;
  // LayerNorms by where they stand. A reader names them by the block that reads their output.
  BlobNorm input_norm;        ///< makes this layer's input, with the channel scales that QKV reads
  BlobNorm norm_after_attn;   ///< makes the input of cross-attention, or else of the feed-forward
  BlobNorm norm_after_cross;  ///< with cross-attention: makes the input of the feed-forward
  int32_t cross_join_shift;   ///< 0..8: joins the planes of cross-attention's keys and values
  uint32_t reserved;          ///< 0
};

/// A dense layer on 16-bit rows. Each row goes in as two planes of 8 bits; the planes' sums are
/// joined as RS(256 * high + low, join_shift).
struct BlobDense16 {
  BlobShifts shifts;
  int32_t join_shift;  ///< 0..8
  uint32_t reserved;   ///< 0
};

/// Embeddings and layers of an encoder or a decoder.
struct BlobStack {
  uint32_t flags;  ///< BlobStackFlags
  uint32_t hidden_size;
  uint32_t num_layers;
  uint32_t num_heads;  ///< attention heads, largest of a layer
  uint32_t head_size;
  uint32_t intermediate_size;  ///< largest of a layer
  uint32_t vocab_size;
  uint32_t max_positions;
  uint32_t type_vocab_size;
  uint32_t activation;         ///< BlobActivation
  uint32_t position_kind;      ///< BlobPositionKind
  uint32_t cross_hidden_size;  ///< width of the states that cross-attention reads, else 0
  uint32_t embedding_scale;    ///< float32 bits: scale of the embedding sum
  uint32_t cross_scale;        ///< float32 bits: scale of the states that cross-attention reads
  uint32_t hidden_scale;       ///< float32 bits: scale of the last hidden state
  uint32_t sum_scale;          ///< float32 bits: scale of the last residual sum
  BlobNorm final_norm;         ///< makes the last hidden state
};

struct BlobHeader {
  uint8_t magic[8];
  uint32_t version;
  uint32_t crc32c;  ///< of bytes [kBlobCrcStart, blob_bytes)
  uint64_t blob_bytes;
  uint32_t layout;  ///< BlobLayout
  uint32_t section_count;
  uint32_t num_stacks;  ///< 1, or 2: an encoder and the decoder that attends it
  uint32_t task_heads;  ///< BlobTaskHeads
  uint32_t max_tokens;  ///< default length of a text, special tokens included
  uint32_t pooling;     ///< BlobPooling
  uint32_t normalize;   ///< 1: embeddings have length 1
  uint32_t classifier_task, problem, num_labels;  ///< of the classifier; 0 without one
  uint32_t token_task, num_token_labels;          ///< of the token classifier; 0 without one
  uint32_t start_id, end_id;  ///< first and last token of a generated text; UINT32_MAX: none
  /// float32 bits: real = value * scale
  uint32_t pooled_scale, logits_scale, token_logits_scale, lm_logits_scale;
  int32_t lm_exponent;  ///< 5..12: scale of the transform's activation is 2^-e; 0 without transform
  int32_t lm_shift;     ///< 0..40: right shift of a product with a row of the vocabulary
  BlobNorm lm_norm;
  BlobDense16 pooler, classifier, token_classifier, lm_transform, projection;
  BlobStack stacks[kMaxStacks];
  uint8_t reserved[152];  ///< 0
};

/// The table of sections follows the header: section_count entries in the order of BlobSectionKind,
/// grouped by stack and in a stack by layer, then those of BlobOptionalKind. Sections lie in the
/// order of the table without overlap. Gaps are fewer than 64 zero bytes.
struct BlobSection {
  uint16_t kind;    ///< BlobSectionKind or BlobOptionalKind
  uint16_t stack;   ///< 0 for a kind that the model has once
  uint32_t layer;   ///< 0 for a kind that a layer does not have
  uint64_t offset;  ///< from the blob's start, a multiple of 64
  uint64_t bytes;   ///< of the contents
};

/// N(x) is x padded to 16 columns, K(x) padded to 4 inputs. H hidden, I intermediate, A heads of
/// the layer, D head size. Parts of a section follow each other without gaps:
///
///   dense [N] x [K]           s8 weights in the header's layout, s32 bias [N], sums [N] (the
///                             weights' column sums), multipliers [N]
///   residual dense [N] x [K]  s8 weights, likewise, s32 sums [N], multipliers [N], residual [N],
///                             constants [N]
///   norm                      s32 gain [H], bias [H]
///
/// A section that a model does not need has 0 bytes.
enum BlobSectionKind : uint32_t {
  // once a stack
  kSectionLayers = 1,       ///< BlobLayer [num_layers]
  kSectionWordEmbeddings,   ///< s8 [V][H]; 0 bytes with kStackEmbeddings4Bit
  kSectionWordMultipliers,  ///< s32 [V], 0..kMaxWordMultiplier or kMaxWordMultiplier4Bit
  kSectionPositions,        ///< s16 [P][H], the row of segment 0 added; rotary: [1][H]; with
                            ///< kStackPaddingPosition [P + 1][H]
  kSectionSegments,         ///< s16 [T][H], differences to segment 0: the first row is zero
  // once a layer
  kSectionInputNorm,          ///< norm
  kSectionHiddenRescale,      ///< s32 multipliers [H], offsets [H]: the input as a hidden state
  kSectionQkv,                ///< dense [A * 3 N(D)] x [K(H)]: a head's queries, keys, values
  kSectionScores,             ///< u32 multipliers [A], s32 caps [A]
  kSectionContext,            ///< s32 multipliers [A][N(D)]
  kSectionRelativePositions,  ///< s8 n16k4 [N(2P-1)] x [K(D)], s32 sums [N(2P-1)], reversed
  kSectionRelativeRatios,     ///< s32 of the queries' product [A], of the keys' [A]
  kSectionAttnOut,            ///< residual dense [N(H)] x [K(A * D)]
  kSectionNormAfterAttn,      ///< norm
  kSectionCrossQuery,         ///< dense [A * N(D)] x [K(H)]
  kSectionCrossKeyValue,      ///< dense [A * 2 N(D)] x [K(cross_hidden_size)]
  kSectionCrossScores,        ///< as kSectionScores
  kSectionCrossContext,       ///< as kSectionContext
  kSectionCrossOut,           ///< as kSectionAttnOut
  kSectionNormAfterCross,     ///< norm
  kSectionFfnUp,              ///< dense [N(I)] x [K(H)]; gated: [2 N(I)], the gate's behind
  kSectionFfnDown,            ///< residual dense [N(H)] x [K(I)]
  // once a stack, behind its layers
  kSectionFinalNorm,  ///< norm: makes the last hidden state
  // once; H, V and activation are those of the last stack
  kSectionPooler,           ///< dense [N(H)] x [K(H)]
  kSectionClassifier,       ///< dense [N(labels)] x [K(H)]
  kSectionTokenClassifier,  ///< dense [N(token labels)] x [K(H)]
  kSectionLmTransform,      ///< dense [N(H)] x [K(H)]
  kSectionLmNorm,           ///< norm
  kSectionLmRows,           ///< s8 [V][H], untied
  kSectionLmMultipliers,    ///< s32 [V], 0..kMaxWordMultiplier, untied
  kSectionLmBias,           ///< s32 [V]
  kSectionProjection,       ///< dense [N(cross_hidden_size)] x [K(H of the encoder)]
  kSectionTokenizer,        ///< TOKENIZER_FORMAT.md; 0 bytes without tokenizer
  kSectionLabels,           ///< num_labels zero-terminated UTF-8 names
  kSectionTokenLabels,      ///< num_token_labels names
  kSectionCertificate,      ///< UTF-8 JSON: what the converter measured; may be empty
  kSectionSelftest,         ///< BlobSelftest, s32 ids [tokens], UTF-8 text; may be empty
  kSectionEnd
};
static constexpr uint32_t kFirstLayerSection = kSectionInputNorm;
static constexpr uint32_t kSectionsPerLayer = kSectionFinalNorm - kFirstLayerSection;
static constexpr uint32_t kSectionsBeforeLayers = kFirstLayerSection - kSectionLayers;
static constexpr uint32_t kFirstModelSection = kSectionPooler;
static constexpr uint32_t kSectionsOfModel = kSectionEnd - kFirstModelSection;
/// Sections of a stack: those before its layers, the layers', the last LayerNorm.
static constexpr uint32_t stack_sections(uint32_t num_layers) {
  return kSectionsBeforeLayers + num_layers * kSectionsPerLayer + 1;
}

/// Optional sections, each at most once and in ascending order. A reader checks the position of
/// every one and skips kinds that it does not know, so that new kinds need no new version.
enum BlobOptionalKind : uint32_t {
  kFirstOptionalSection = 256,
  kSectionPrompts = kFirstOptionalSection,  ///< BlobPrompts, then count names and texts
  kSectionPaddingPosition = 257,            ///< BlobPaddingPosition
  kSectionScoreBias = 258,                  ///< s32 [heads][2P-1]: column P-1 + key - query
  kSectionEmbeddingProjection = 259,  ///< BlobEmbeddingProjection; dense [N(H)] x [K(E)]; norm [E]
  kSectionSharedLayers = 260,         ///< BlobSharedLayer [num_layers]
  kSectionBottleneck = 261,           ///< BlobBottleneck
  kSectionLayerBottleneck = 262,      ///< once a layer: BlobLayerBottleneck, then its parts
  kSectionStackedFfn = 263,           ///< once a layer: BlobStackedFfn [num_ffns - 1], their parts
  kSectionWordProjection = 265,       ///< BlobWordProjection; dense [N(H)] x [K(words * W)]
  kSectionRotary = 266,               ///< BlobRotary, s32 multipliers [N(D)], s16 [tables][P][D]
  kSectionLocalAttention = 267,       ///< BlobLocalAttention
  kSectionGatedFfn = 268,             ///< BlobGatedFfn [num_layers]
  kSectionStatic = 269,               ///< BlobStatic
  kSectionEmbeddings4Bit = 270,       ///< BlobEmbeddings4Bit, then V rows
  kSectionPlanes = 271,               ///< BlobPlanes [num_layers], u16 copied inputs of each layer
  // Each if and only if the bit of its name is set in BlobHeader::task_heads:
  kSectionPooledTransform = 280,  ///< BlobHeadTransform, then norm if it has one
  kSectionTokenTransform = 281,   ///< BlobHeadTransform, dense [N(H)] x [K(H)], norm if it has one
  kSectionLmActivation = 282,     ///< BlobLmActivation
  kSectionVector = 290            ///< BlobVector, then its dense layers
};

/// Tokens with this id have row P of the positions, which has a row more, and do not count in the
/// positions of the tokens behind them (Liu et al. 2019, RoBERTa).
struct BlobPaddingPosition {
  uint32_t padding_id;  ///< below V
  uint32_t reserved;    ///< 0
};

/// A classifier with this record reads LayerNorm(act(dense(row))) in place of the hidden state.
struct BlobHeadTransform {
  BlobNorm norm;      ///< all zero without LayerNorm
  BlobDense16 dense;  ///< of the token classifier's; zero for the pooled vector: BlobHeader::pooler
  uint32_t activation;  ///< BlobActivation
  int32_t exponent;     ///< 5..12: scale of the activation is 2^-e
  uint32_t mean;  ///< 1: the pooled vector is made of the mean of the tokens, not of the first
  uint32_t reserved[5];  ///< 0
};

struct BlobLmActivation {
  uint32_t activation;  ///< BlobActivation
  uint32_t reserved;    ///< 0
};

/// Embeddings of a width E of their own: their sum goes through a LayerNorm and a dense layer to
/// the hidden size (Lan et al. 2020, section 3.1). The tables of the stack, and the language
/// model's head behind its transform, then have rows of E values.
struct BlobEmbeddingProjection {
  uint32_t embedding_size;  ///< E, 1..kMaxHiddenSize
  uint32_t reserved;        ///< 0
  BlobNorm norm;            ///< of the sum
  BlobDense16 dense;
  uint8_t padding[24];  ///< 0: the weights behind the record are aligned
};

/// The rows of a dense layer's input that go in as two planes of 8 bits.
enum BlobPlaneRows : uint8_t {
  kPlanesNone = 0,   ///< none: 8 bits
  kPlanesFirst = 1,  ///< each text's first token, to which most attention goes (Xiao et al. 2024)
  kPlanesAll = 2,
  kPlanesScores = 3  ///< of probabilities alone: all, and queries and keys in two planes as well
};

/// The inputs of a layer's dense layers, each a BlobPlaneRows. The planes' sums are joined as
/// RS(256 * high + low, kPlaneShift), which has the scale of the sums of 8-bit rows. The planes of
/// self-attention's exponentials are the two bytes of exp2_u14, whose sums with the values are
/// joined as 256 * high + low. With kPlanesScores queries and keys are 256 times as fine as their
/// factors say, and the planes' scores are joined as RS(256 * high + low, kScorePlaneShift), which
/// has the scale of the scores of 8-bit queries and keys.
struct BlobPlanes {
  uint8_t qkv;                         ///< any
  uint8_t attn_out, ffn_up, ffn_down;  ///< kPlanesNone or kPlanesAll
  uint8_t probabilities = 0;           ///< kPlanesNone, kPlanesAll: exponentials of 14 bits, or
                                       ///< kPlanesScores, with qkv = kPlanesAll
  uint8_t copied_inputs = 0;           ///< of ffn_up: columns behind the others read them again
  /// Columns of ffn_down in the first of two groups, a multiple of kPanelColumns and fewer than
  /// intermediate_size; 0: there is one group.
  uint16_t first_columns = 0;
};
static constexpr int32_t kPlaneShift = 7, kScorePlaneShift = 8;
static constexpr size_t kMaxCopiedInputs = UINT8_MAX;

/// Layers that use sections of others (Lan et al. 2020, section 3.1): a number that is not the
/// layer's own stands for an earlier layer, which has its own.
struct BlobSharedLayer {
  uint32_t layer;       ///< whose sections it uses, all but the input norm
  uint32_t input_norm;  ///< whose input norm it uses
};

/// Says how a layer's blocks are joined to the hidden state (Sun et al. 2020, section 3.1, figure
/// 1). In all but the first kind a dense layer makes rows of intra_size values of the hidden state,
/// to which the layer's blocks add, and another one brings the last sum back, which is added to the
/// hidden state.
enum BlobBottleneckKind : uint32_t {
  kBottleneckNone = 0,    ///< the blocks add to the hidden state
  kBottleneckOutput = 1,  ///< queries, keys and values read the hidden state
  kBottleneckInput = 2,   ///< they read the rows that the blocks add to
  kBottleneckShared = 3,  ///< queries and keys read rows of a dense layer of their own, values the
                          ///< hidden state
  kBottleneckKindCount = 4
};

/// Layers of MobileBERT. Without LayerNorms (BlobStack::final_norm is zero) each sum is the next
/// block's input as it is.
struct BlobBottleneck {
  uint32_t intra_size;  ///< B, 1..H: width inside the layers; H with kBottleneckNone
  uint32_t num_ffns;    ///< F, 1..kMaxFfns: feed-forward networks of a layer
  uint32_t kind;        ///< BlobBottleneckKind
  uint32_t reserved;    ///< 0
};
static constexpr uint32_t kMaxFfns = 16;

/// Of a layer with bottlenecks. Norms are zero where the stack has none, and what queries and keys
/// read is zero but with kBottleneckShared. Behind it, as far as the layer has them:
/// residual dense [N(B)] x [K(H)] input; the same of queries and keys; dense [A N(D)] x [K(H)]
/// values; residual dense [N(H)] x [K(B)] output; norms [B] of input, of queries and keys, of
/// output. The first two add to nothing: their residual multipliers are 0.
struct BlobLayerBottleneck {
  BlobNorm input_norm;      ///< behind the dense layer that makes the rows of the blocks
  BlobNorm query_key_norm;  ///< behind the dense layer for queries and keys
  BlobNorm widening_norm;   ///< makes the input of the dense layer back to the hidden state
  BlobShifts input, query_key, output;
  uint8_t padding[56];  ///< 0: the weights behind the record are aligned
};

/// The row maximum with which residual dense layers of bottlenecks read rows of a fixed scale.
static constexpr int32_t kFixedRowMax = 1 << 14;

/// A feed-forward network of a layer behind the one in its required sections. Behind the records
/// of a layer: for each dense [N(I)] x [K(B)] up, residual dense [N(B)] x [K(I)] down; then norms
/// [B].
struct BlobStackedFfn {
  BlobNorm norm;                ///< makes its input; zero where the stack has none
  uint32_t intermediate_size;   ///< I, at most that of the stack
  int32_t activation_exponent;  ///< 5..12
  BlobShifts up, down;
  uint8_t padding[24];  ///< 0
};

/// Word vectors of W values go through a dense layer to the hidden size before positions and
/// segments are added: each alone, or side by side with those of the next and the previous token
/// (Sun et al. 2020, section 3.1). Beyond the ends of a text vectors are zero.
struct BlobWordProjection {
  uint32_t word_size;  ///< W, 1..H
  uint32_t words;      ///< 1, or 3: next, this one, previous
  BlobDense16 dense;
  uint8_t padding[40];  ///< 0: the weights behind the record are aligned
};

/// Texts that go before a text, as the model was trained. Behind it: name and text of each prompt,
/// zero-terminated UTF-8. Names are not empty and ascend byte by byte, so no two are the same.
struct BlobPrompts {
  uint32_t count;           ///< 1..kMaxPrompts
  uint32_t default_prompt;  ///< index, or UINT32_MAX: none
};

/// Rotary positions (Su et al. 2021, equation 34): channels i and i + D/2 of a query or key turn
/// together. Behind it: s32 multipliers [N(D)], which bring turned values of any attention head to
/// 8 bits; s16 angles [tables][P][D], for each position D/2 cosines, then D/2 sines, Q14.
struct BlobRotary {
  uint32_t tables;    ///< 1, or with local attention 2: the second is for layers that are local
  uint32_t reserved;  ///< 0
  BlobShifts shifts;  ///< of the multipliers
};
static constexpr int32_t kMaxRotaryAngle = 1 << 14;  ///< magnitude of a cosine or sine

/// Local attention (Beltagy et al. 2020, section 3.1).
struct BlobLocalAttention {
  uint32_t period;  ///< 1..kMaxLayers: layers 0, period, 2 period ... see all keys
  uint32_t reach;   ///< 0..kMaxPositions-1: the others see keys at most so far from the query
};

/// The product of a gated feed-forward network: f(a) * b = product * 2^shift.
struct BlobGatedFfn {
  int32_t shift;  ///< 0..15
};

/// Static embeddings (Tulkens and van Dongen 2024): a stack without layers.
struct BlobStatic {
  uint32_t dropped_id;   ///< a token that does not count; UINT32_MAX: none
  uint32_t reserved[3];  ///< 0
};

/// Word embeddings of 4 bits. Behind it: a row for each token (kernels/arithmetic/word_4bit.hpp).
struct BlobEmbeddings4Bit {
  int8_t levels[16];     ///< -127..127: what a code stands for
  uint8_t reserved[48];  ///< 0
};

/// Activation of a vector's dense layer: BlobActivation, or this one.
static constexpr uint32_t kVectorActivationNone = kActivationCount;

/// A dense layer behind pooling: [N(outputs)] x [K(inputs)] on 16-bit rows.
struct BlobVectorDense {
  uint32_t outputs;          ///< 1..kMaxVectorSize
  uint32_t activation;       ///< BlobActivation or kVectorActivationNone
  int32_t exponent;          ///< 5..12: the activation's scale is 2^-e; tanh 12; none and relu 0
  uint32_t scale;            ///< float32 bits: scale of the outputs
  uint32_t normalize_input;  ///< 1: its input has length 1, scale 2^-15
  uint32_t reserved;         ///< 0
  BlobDense16 dense;
};

/// How a vector is made of a text's hidden states: poolings side by side, then dense layers.
/// Behind it: the dense layers' weights, biases, sums and multipliers.
struct BlobVector {
  uint32_t vector_size;             ///< of the last dense layer; without one num_poolings * H
  uint32_t num_poolings;            ///< 1..kMaxPoolings
  uint32_t poolings[kMaxPoolings];  ///< BlobPooling, in the order of the vector; 0 from the end on
  uint32_t num_dense;               ///< 0..kMaxVectorDense
  uint32_t pooled_scale;            ///< float32 bits: scale of the pooled 16-bit row
  int32_t pooled_multiplier;        ///< 1..2^31 - 1: pooled = RS(16 x * multiplier, shift)
  int32_t pooled_shift;             ///< 1..61
  BlobVectorDense dense[kMaxVectorDense];  ///< all zero from num_dense on
  uint32_t reserved[12];                   ///< 0
};

/// A text, and the checksum of the model's outputs for it (embert_selftest).
struct BlobSelftest {
  uint32_t crc32c;
  uint32_t tokens;  ///< 1..kMaxSelftestTokens
};
static constexpr uint32_t kMaxSelftestTokens = 32;

static_assert(sizeof(BlobLayer) == 16 + 14 * 8 + 3 * 16 + 8, "BlobLayer is part of the format");
static_assert(sizeof(BlobStack) == 80, "BlobStack is part of the format");
static_assert(sizeof(BlobHeader) == 512, "BlobHeader is part of the format");
static_assert(sizeof(BlobSection) == 24, "BlobSection is part of the format");
static_assert(sizeof(BlobPaddingPosition) == 8, "BlobPaddingPosition is part of the format");
static_assert(sizeof(BlobHeadTransform) == 64, "BlobHeadTransform is part of the format");
static_assert(sizeof(BlobLmActivation) == 8, "BlobLmActivation is part of the format");
static_assert(sizeof(BlobPrompts) == 8, "BlobPrompts is part of the format");
static_assert(sizeof(BlobRotary) == 16, "BlobRotary is part of the format");
static_assert(sizeof(BlobLocalAttention) == 8, "BlobLocalAttention is part of the format");
static_assert(sizeof(BlobGatedFfn) == 4, "BlobGatedFfn is part of the format");
static_assert(sizeof(BlobStatic) == 16, "BlobStatic is part of the format");
static_assert(sizeof(BlobEmbeddings4Bit) == 64, "BlobEmbeddings4Bit is part of the format");
static_assert(sizeof(BlobPlanes) == 8, "BlobPlanes is part of the format");
static_assert(sizeof(BlobVectorDense) == 40, "BlobVectorDense is part of the format");
static_assert(sizeof(BlobVector) == 256, "BlobVector is part of the format");
static_assert(sizeof(BlobSelftest) == 8, "BlobSelftest is part of the format");
static_assert(sizeof(BlobEmbeddingProjection) == 64, "BlobEmbeddingProjection fills its alignment");
static_assert(sizeof(BlobSharedLayer) == 8, "BlobSharedLayer is part of the format");
static_assert(sizeof(BlobBottleneck) == 16, "BlobBottleneck is part of the format");
static_assert(sizeof(BlobLayerBottleneck) == 128, "BlobLayerBottleneck fills its alignment");
static_assert(sizeof(BlobStackedFfn) == 64, "BlobStackedFfn fills its alignment");
static_assert(sizeof(BlobWordProjection) == 64, "BlobWordProjection fills its alignment");

}  // namespace embert
