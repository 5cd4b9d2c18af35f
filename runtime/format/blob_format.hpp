// SPDX-License-Identifier: Apache-2.0
// The structs of a model blob, the only noun that runtime and converter share. FORMAT.md beside
// this file says what each field means, what range it has and what a reader must reject. Everything
// is little-endian and naturally aligned; the blob starts at a 64-byte aligned address and so does
// every section.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace embert {

static constexpr uint8_t kBlobMagic[8] = {'e', 'm', 'b', 'e', 'r', 't', '\r', '\n'};
static constexpr uint32_t kBlobVersion = 1;
static constexpr size_t kBlobAlignment = 64;
static constexpr size_t kBlobCrcStart = 16;  ///< the checksum covers [16, blob_bytes)

/// Limits of the format: what a valid blob may ask for.
static constexpr uint32_t kMaxHiddenSize = 4096;
static constexpr uint32_t kMaxLayers = 48;
static constexpr uint32_t kMaxHeads = 128;
static constexpr uint32_t kMaxHeadSize = 128;
static constexpr uint32_t kMaxIntermediateSize = 4224;  ///< copies of wide columns included
static constexpr uint32_t kMaxVocabSize = 1u << 20;
static constexpr uint32_t kMaxPositions = 512;
static constexpr uint32_t kMaxTypes = 16;
static constexpr uint32_t kMaxLabels = 4096;

/// Weight layouts; a reader refuses one that none of its kernels reads.
enum BlobLayout : uint32_t { kLayoutN16K4 = 1 };

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
  kPoolingCount = 3
};

/// What stands behind the encoder. A classifier has a pooler in front of it.
enum BlobHead : uint32_t { kHeadNone = 0, kHeadPooler = 1, kHeadClassifier = 2, kHeadCount = 3 };

/// How the classifier's logits are meant: softmax over labels, a sigmoid each, or plain numbers.
enum BlobProblem : uint32_t {
  kProblemSingleLabel = 0,
  kProblemMultiLabel = 1,
  kProblemRegression = 2,
  kProblemCount = 3
};

/// Shifts of a tensor's Requantize (kernels/fixed_point.hpp).
struct BlobShifts {
  int32_t left;   ///< 0..15
  int32_t right;  ///< 0..31, 0 where left is not
};

/// A LayerNorm's numbers that are not one a channel.
struct BlobNorm {
  int64_t epsilon_n2;  ///< 1..2^54
  int32_t shift;       ///< 8..38
  uint32_t reserved;   ///< 0
};

struct BlobLayer {
  uint32_t num_heads;           ///< heads that this layer has (pruned ones are gone)
  uint32_t intermediate_size;   ///< copies of wide columns included
  int32_t activation_exponent;  ///< 5..12
  uint32_t reserved;            ///< 0
  BlobShifts query, key, value, context, output, ffn1, ffn2;
  BlobNorm input_norm;  ///< the LayerNorm that makes this layer's input, in its QKV input's domain
  BlobNorm attention_norm;  ///< the LayerNorm behind attention, in the FFN input's domain
};

/// A dense layer of a head: 16-bit rows in two planes, sums joined as RS(256 * high + low,
/// join_shift).
struct BlobHeadDense {
  BlobShifts shifts;
  int32_t join_shift;  ///< 0..8
  uint32_t reserved;   ///< 0
};

struct BlobHeader {
  uint8_t magic[8];
  uint32_t version;
  uint32_t crc32c;  ///< of bytes [kBlobCrcStart, blob_bytes)
  uint64_t blob_bytes;
  uint32_t layout;  ///< BlobLayout
  uint32_t section_count;
  uint32_t hidden_size;
  uint32_t num_layers;
  uint32_t num_heads;  ///< largest of a layer
  uint32_t head_size;
  uint32_t intermediate_size;  ///< largest of a layer
  uint32_t vocab_size;
  uint32_t max_positions;
  uint32_t type_vocab_size;
  uint32_t max_tokens;    ///< default length of a text, special tokens included
  uint32_t activation;    ///< BlobActivation
  uint32_t pooling;       ///< BlobPooling
  uint32_t normalize;     ///< 1: embeddings have length 1
  uint32_t head;          ///< BlobHead
  uint32_t problem;       ///< BlobProblem
  uint32_t num_labels;    ///< 0 without classifier
  uint32_t hidden_scale;  ///< float32 bits: real = value * scale, of the last hidden state
  uint32_t pooled_scale;  ///< of the pooler's output
  uint32_t logits_scale;
  BlobNorm output_norm;  ///< the LayerNorm of the last hidden state
  BlobHeadDense pooler, classifier;
  uint8_t reserved[104];  ///< 0
};

/// The table of sections follows the header: section_count of these, in the order of
/// BlobSectionKind, those of a layer together. Sections lie in the order of the table without
/// overlap; gaps are less than 64 zero bytes.
struct BlobSection {
  uint32_t kind;    ///< BlobSectionKind
  uint32_t layer;   ///< 0 where the kind is not one a layer
  uint64_t offset;  ///< from the blob's start, a multiple of 64
  uint64_t bytes;   ///< of the contents
};

/// N(x) is x padded to 16 columns, K(x) padded to 4 inputs. H hidden, I intermediate, A heads of
/// the layer, D head size, Q = A * 3 * N(D) columns of queries, keys and values: for each head its
/// N(D) queries, keys, values. Weights are n16k4 (kernels/layout.hpp), all else row-major. "sums"
/// are column sums of the weights.
enum BlobSectionKind : uint32_t {
  kSectionLayers = 1,       ///< BlobLayer [num_layers]
  kSectionWordEmbeddings,   ///< s8 [V][H]
  kSectionWordMultipliers,  ///< s32 [V], 0..16909320
  kSectionPositions,        ///< s16 [P][H], the row of segment 0 added
  kSectionSegments,         ///< s16 [T][H], differences to segment 0: the first row is zero
  // one each a layer, in this order
  kSectionInputNormGain,       ///< s32 [H]
  kSectionInputNormBias,       ///< s32 [H]
  kSectionQkvWeights,          ///< s8 n16k4 [Q] x [K(H)]
  kSectionQkvBias,             ///< s32 [Q]
  kSectionQkvSums,             ///< s32 [Q]
  kSectionQkvMultipliers,      ///< s32 [Q]
  kSectionScoreMultipliers,    ///< u32 [A], 1..2^31
  kSectionDistanceCaps,        ///< s32 [A]
  kSectionContextMultipliers,  ///< s32 [A][N(D)]
  kSectionOutputWeights,       ///< s8 n16k4 [N(H)] x [K(A * D)]
  kSectionOutputSums,          ///< s32 [N(H)]
  kSectionOutputMultipliers,   ///< s32 [N(H)]
  kSectionOutputResidual,      ///< s32 [N(H)]
  kSectionOutputConstants,     ///< s32 [N(H)]
  kSectionAttentionNormGain,   ///< s32 [H]
  kSectionAttentionNormBias,   ///< s32 [H]
  kSectionFfn1Weights,         ///< s8 n16k4 [N(I)] x [K(H)]
  kSectionFfn1Bias,            ///< s32 [N(I)]
  kSectionFfn1Sums,            ///< s32 [N(I)]
  kSectionFfn1Multipliers,     ///< s32 [N(I)]
  kSectionFfn2Weights,         ///< s8 n16k4 [N(H)] x [K(I)]
  kSectionFfn2Sums,            ///< s32 [N(H)]
  kSectionFfn2Multipliers,     ///< s32 [N(H)]
  kSectionFfn2Residual,        ///< s32 [N(H)]
  kSectionFfn2Constants,       ///< s32 [N(H)]
  // once
  kSectionOutputNormGain,  ///< s32 [H]
  kSectionOutputNormBias,  ///< s32 [H]
  kSectionPoolerWeights,   ///< s8 n16k4 [N(H)] x [K(H)]; 0 bytes without pooler, as the next three
  kSectionPoolerBias,      ///< s32 [N(H)]
  kSectionPoolerSums,      ///< s32 [N(H)]
  kSectionPoolerMultipliers,  ///< s32 [N(H)]
  kSectionClassifierWeights,  ///< s8 n16k4 [N(C)] x [K(H)]; 0 bytes without classifier, as the next
                              ///< three
  kSectionClassifierBias,     ///< s32 [N(C)]
  kSectionClassifierSums,     ///< s32 [N(C)]
  kSectionClassifierMultipliers,  ///< s32 [N(C)]
  kSectionTokenizer,              ///< TOKENIZER_FORMAT.md; 0 bytes without tokenizer
  kSectionLabels,       ///< num_labels zero-terminated UTF-8 names; 0 bytes without classifier
  kSectionCertificate,  ///< UTF-8 JSON: what the converter measured; may be empty
  kSectionEnd
};
static constexpr uint32_t kFirstLayerSection = kSectionInputNormGain;
static constexpr uint32_t kSectionsPerLayer = kSectionOutputNormGain - kSectionInputNormGain;
static constexpr uint32_t kSectionsBefore = kFirstLayerSection - kSectionLayers;
static constexpr uint32_t kSectionsAfter = kSectionEnd - kSectionOutputNormGain;

static_assert(sizeof(BlobLayer) == 16 + 7 * 8 + 2 * 16, "BlobLayer is part of the format");
static_assert(sizeof(BlobHeader) == 256, "BlobHeader is part of the format");
static_assert(sizeof(BlobSection) == 24, "BlobSection is part of the format");

}  // namespace embert
