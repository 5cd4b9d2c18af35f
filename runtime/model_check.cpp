// SPDX-License-Identifier: Apache-2.0
// The gate: a blob is hostile until every number that later code relies on has been looked at.
// FORMAT.md lists the same rules. Checks run in the order header, checksum, sections, values, so
// that a damaged file is called damaged and not wrong.
#include "runtime/model_check.hpp"

#include <string.h>

#include "kernels/dispatch.hpp"
#include "kernels/layout.hpp"

namespace embert {
namespace {

constexpr int64_t kMaxEpsilon = int64_t{1} << 54;
constexpr int32_t kMaxWordMultiplier = 16909320;  // times 127 below 2^31

bool in_range(uint32_t x, uint32_t lowest, uint32_t highest) { return x >= lowest && x <= highest; }

bool shifts_ok(const BlobShifts& s) {
  return s.left >= 0 && s.left <= 15 && s.right >= 0 && s.right <= 31 &&
         (s.left == 0 || s.right == 0);
}
bool norm_ok(const BlobNorm& n) {
  return n.epsilon_n2 >= 1 && n.epsilon_n2 <= kMaxEpsilon && n.shift >= 8 && n.shift <= 38 &&
         n.reserved == 0;
}
bool head_dense_ok(const BlobHeadDense& d) {
  return shifts_ok(d.shifts) && d.join_shift >= 0 && d.join_shift <= 8 && d.reserved == 0;
}

bool header_ok(const BlobHeader& h) {
  const bool classifier = h.head == kHeadClassifier;
  bool ok =
      in_range(h.hidden_size, 1, kMaxHiddenSize) && in_range(h.num_layers, 1, kMaxLayers) &&
      in_range(h.num_heads, 1, kMaxHeads) && in_range(h.head_size, 1, kMaxHeadSize) &&
      h.num_heads * h.head_size <= kMaxHiddenSize &&
      in_range(h.intermediate_size, 1, kMaxIntermediateSize) &&
      in_range(h.vocab_size, 1, kMaxVocabSize) && in_range(h.max_positions, 1, kMaxPositions) &&
      in_range(h.type_vocab_size, 1, kMaxTypes) && in_range(h.max_tokens, 1, h.max_positions) &&
      h.activation < kActivationCount && h.pooling < kPoolingCount && h.normalize <= 1 &&
      h.head < kHeadCount && h.problem < kProblemCount &&
      (classifier ? in_range(h.num_labels, 1, kMaxLabels) : h.num_labels == 0) &&
      norm_ok(h.output_norm) && head_dense_ok(h.pooler) && head_dense_ok(h.classifier) &&
      h.section_count == kSectionsBefore + h.num_layers * kSectionsPerLayer + kSectionsAfter;
  for (uint8_t byte : h.reserved) ok = ok && byte == 0;
  return ok;
}

/// The blob in sections, walked in their fixed order. `layer` of the walk's current layer sizes its
/// sections.
struct Walk {
  const uint8_t* blob;
  const BlobHeader& header;
  const BlobSection* sections;
  uint64_t end;  ///< of the part walked so far

  /// Checks that the next section is this one and has this many bytes (any, where bytes is
  /// kAnySize).
  bool next(size_t index, uint32_t kind, uint32_t layer, uint64_t bytes) {
    const BlobSection& s = sections[index];
    const uint64_t start = (end + kBlobAlignment - 1) / kBlobAlignment * kBlobAlignment;
    if (s.kind != kind || s.layer != layer || s.offset != start) return false;
    if (start > header.blob_bytes || s.bytes > header.blob_bytes - start) return false;
    if (bytes != kAnySize && s.bytes != bytes) return false;
    for (uint64_t i = end; i < start; ++i) {
      if (blob[i] != 0) return false;
    }
    end = start + s.bytes;
    return true;
  }
  static constexpr uint64_t kAnySize = UINT64_MAX;
};

/// Bytes that the header and the layer's record ask for.
uint64_t section_bytes(const BlobHeader& h, const BlobLayer* l, uint32_t kind) {
  const uint64_t hidden = h.hidden_size, hidden_n = pad_columns(h.hidden_size),
                 hidden_k = pad_inputs(h.hidden_size);
  const uint64_t labels_n = pad_columns(h.num_labels), head_n = pad_columns(h.head_size);
  const uint64_t heads = l != nullptr ? l->num_heads : 0;
  const uint64_t qkv_n = heads * 3 * head_n, context_k = pad_inputs(heads * h.head_size);
  const uint64_t inner = l != nullptr ? l->intermediate_size : 0;
  const uint64_t inner_n = pad_columns(inner), inner_k = pad_inputs(inner);
  switch (kind) {
    case kSectionLayers:
      return h.num_layers * sizeof(BlobLayer);
    case kSectionWordEmbeddings:
      return h.vocab_size * hidden;
    case kSectionWordMultipliers:
      return uint64_t{4} * h.vocab_size;
    case kSectionPositions:
      return h.max_positions * hidden * 2;
    case kSectionSegments:
      return h.type_vocab_size * hidden * 2;
    case kSectionInputNormGain:
    case kSectionInputNormBias:
    case kSectionAttentionNormGain:
    case kSectionAttentionNormBias:
    case kSectionOutputNormGain:
    case kSectionOutputNormBias:
      return 4 * hidden;
    case kSectionQkvWeights:
      return qkv_n * hidden_k;
    case kSectionQkvBias:
    case kSectionQkvSums:
    case kSectionQkvMultipliers:
      return 4 * qkv_n;
    case kSectionScoreMultipliers:
    case kSectionDistanceCaps:
      return 4 * heads;
    case kSectionContextMultipliers:
      return 4 * heads * head_n;
    case kSectionOutputWeights:
      return hidden_n * context_k;
    case kSectionOutputSums:
    case kSectionOutputMultipliers:
    case kSectionOutputResidual:
    case kSectionOutputConstants:
    case kSectionFfn2Sums:
    case kSectionFfn2Multipliers:
    case kSectionFfn2Residual:
    case kSectionFfn2Constants:
      return 4 * hidden_n;
    case kSectionFfn1Weights:
      return inner_n * hidden_k;
    case kSectionFfn1Bias:
    case kSectionFfn1Sums:
    case kSectionFfn1Multipliers:
      return 4 * inner_n;
    case kSectionFfn2Weights:
      return hidden_n * inner_k;
    case kSectionPoolerWeights:
      return h.head >= kHeadPooler ? hidden_n * hidden_k : 0;
    case kSectionPoolerBias:
    case kSectionPoolerSums:
    case kSectionPoolerMultipliers:
      return h.head >= kHeadPooler ? 4 * hidden_n : 0;
    case kSectionClassifierWeights:
      return h.head == kHeadClassifier ? labels_n * hidden_k : 0;
    case kSectionClassifierBias:
    case kSectionClassifierSums:
    case kSectionClassifierMultipliers:
      return h.head == kHeadClassifier ? 4 * labels_n : 0;
    default:
      return Walk::kAnySize;  // tokenizer, labels, certificate
  }
}

bool layer_ok(const BlobHeader& h, const BlobLayer& l) {
  return in_range(l.num_heads, 1, h.num_heads) &&
         in_range(l.intermediate_size, 1, h.intermediate_size) && l.activation_exponent >= 5 &&
         l.activation_exponent <= 12 && l.reserved == 0 && shifts_ok(l.query) && shifts_ok(l.key) &&
         shifts_ok(l.value) && shifts_ok(l.context) && shifts_ok(l.output) && shifts_ok(l.ffn1) &&
         shifts_ok(l.ffn2) && norm_ok(l.input_norm) && norm_ok(l.attention_norm);
}

/// Every section in its place and of its size. Layer records are read only after their own section
/// was checked.
embert_status check_sections(Walk& walk) {
  const BlobHeader& h = walk.header;
  size_t index = 0;
  for (uint32_t kind = kSectionLayers; kind < kFirstLayerSection; ++kind) {
    if (!walk.next(index++, kind, 0, section_bytes(h, nullptr, kind)))
      return EMBERT_STATUS_BLOB_SECTION;
  }
  const BlobLayer* layers = reinterpret_cast<const BlobLayer*>(walk.blob + walk.sections[0].offset);
  uint32_t most_heads = 0, widest = 0;
  for (uint32_t l = 0; l < h.num_layers; ++l) {
    if (!layer_ok(h, layers[l])) return EMBERT_STATUS_BLOB_VALUE;
    if (layers[l].num_heads > most_heads) most_heads = layers[l].num_heads;
    if (layers[l].intermediate_size > widest) widest = layers[l].intermediate_size;
    for (uint32_t kind = kFirstLayerSection; kind < kSectionOutputNormGain; ++kind) {
      if (!walk.next(index++, kind, l, section_bytes(h, layers + l, kind)))
        return EMBERT_STATUS_BLOB_SECTION;
    }
  }
  // The header names the largest layer: the arena is planned from it.
  if (most_heads != h.num_heads || widest != h.intermediate_size) return EMBERT_STATUS_BLOB_HEADER;
  for (uint32_t kind = kSectionOutputNormGain; kind < kSectionEnd; ++kind) {
    if (!walk.next(index++, kind, 0, section_bytes(h, nullptr, kind)))
      return EMBERT_STATUS_BLOB_SECTION;
  }
  return walk.end == h.blob_bytes ? EMBERT_STATUS_OK : EMBERT_STATUS_BLOB_SECTION;
}

template <typename T>
bool all_in(const uint8_t* data, uint64_t bytes, T lowest, T highest) {
  const T* values = reinterpret_cast<const T*>(data);
  uint32_t outside = 0;  // no early exit: the loop runs over megabytes and must vectorise
  for (size_t i = 0; i < bytes / sizeof(T); ++i) {
    outside |=
        static_cast<uint32_t>(values[i] < lowest) | static_cast<uint32_t>(values[i] > highest);
  }
  return outside == 0;
}

/// Sums are the columns' sums of the weights, padding included: the kernels of one processor use
/// them where those of another do not, so with wrong ones the same blob would give different bits.
bool sums_ok(const Walk& walk, size_t weights_index, size_t sums_index) {
  const BlobSection& weights = walk.sections[weights_index];
  const size_t columns = static_cast<size_t>(walk.sections[sums_index].bytes) / 4;
  if (columns == 0) return true;
  const int8_t* weight = reinterpret_cast<const int8_t*>(walk.blob + weights.offset);
  const int32_t* sums =
      reinterpret_cast<const int32_t*>(walk.blob + walk.sections[sums_index].offset);
  const size_t steps = static_cast<size_t>(weights.bytes) / (columns * kStepInputs);
  for (size_t panel = 0; panel < columns; panel += kPanelColumns) {
    int32_t lanes[kPanelColumns * kStepInputs] =
        {};  // one a byte of a step, so that the loop vectorises
    for (size_t step = 0; step < steps; ++step, weight += kPanelColumns * kStepInputs) {
      for (size_t lane = 0; lane < kPanelColumns * kStepInputs; ++lane) lanes[lane] += weight[lane];
    }
    for (size_t column = 0; column < kPanelColumns; ++column) {
      const int32_t* of_column = lanes + column * kStepInputs;
      if (of_column[0] + of_column[1] + of_column[2] + of_column[3] != sums[panel + column])
        return false;
    }
  }
  return true;
}

/// Values of one section within the bounds of the law (kernels' contracts).
bool values_ok(const Walk& walk, size_t index) {
  const BlobSection& s = walk.sections[index];
  const uint8_t* data = walk.blob + s.offset;
  const auto s32_within = [&](int32_t bound) {
    return all_in<int32_t>(data, s.bytes, -bound, bound);
  };
  switch (s.kind) {
    case kSectionWordEmbeddings:
    case kSectionQkvWeights:
    case kSectionOutputWeights:
    case kSectionFfn1Weights:
    case kSectionFfn2Weights:
    case kSectionPoolerWeights:
    case kSectionClassifierWeights:
      return all_in<int8_t>(data, s.bytes, -127, 127);
    case kSectionWordMultipliers:
      return all_in<int32_t>(data, s.bytes, 0, kMaxWordMultiplier);
    case kSectionSegments:
      return all_in<int16_t>(data, uint64_t{2} * walk.header.hidden_size, 0, 0);
    case kSectionQkvBias:
    case kSectionFfn1Bias:
    case kSectionPoolerBias:
    case kSectionClassifierBias:
      return s32_within((1 << 30) - 1);
    case kSectionQkvSums:
    case kSectionFfn1Sums:
    case kSectionPoolerSums:
    case kSectionClassifierSums:
      return sums_ok(walk, index - 2, index);  // weights, bias, sums
    case kSectionOutputSums:
    case kSectionFfn2Sums:
      return sums_ok(walk, index - 1, index);  // weights, sums
    case kSectionQkvMultipliers:
    case kSectionContextMultipliers:
    case kSectionOutputMultipliers:
    case kSectionFfn1Multipliers:
    case kSectionFfn2Multipliers:
    case kSectionPoolerMultipliers:
    case kSectionClassifierMultipliers:
      return all_in<int32_t>(data, s.bytes, 0, INT32_MAX);
    case kSectionScoreMultipliers:
      return all_in<uint32_t>(data, s.bytes, 1, 1u << 31);
    case kSectionDistanceCaps: {
      const uint32_t* multipliers =
          reinterpret_cast<const uint32_t*>(walk.blob + walk.sections[index - 1].offset);
      const int32_t* caps = reinterpret_cast<const int32_t*>(data);
      for (size_t i = 0; i < s.bytes / 4; ++i) {
        if (caps[i] < 0) return false;
        const uint64_t largest = static_cast<uint64_t>(caps[i]) * multipliers[i] + (1u << 21);
        if (largest > UINT32_MAX) return false;
      }
      return true;
    }
    case kSectionOutputResidual:
    case kSectionFfn2Residual:
    case kSectionInputNormBias:
    case kSectionAttentionNormBias:
    case kSectionOutputNormBias:
      return s32_within((1 << 29) - 1);
    case kSectionOutputConstants:
    case kSectionFfn2Constants:
      return s32_within((1 << 28) - 1);
    case kSectionInputNormGain:
    case kSectionAttentionNormGain:
    case kSectionOutputNormGain:
      return s32_within(INT32_MAX);
    case kSectionLabels: {
      uint64_t names = 0;
      for (size_t i = 0; i < s.bytes; ++i) names += data[i] == 0;
      return names == walk.header.num_labels && (s.bytes == 0 || data[s.bytes - 1] == 0);
    }
    default:
      return true;  // any int16 position; layers, tokenizer and certificate are checked elsewhere
                    // or text
  }
}

/// Whether every text that the tokenizer makes is one that the model takes. The template for pairs
/// is not looked at: models without a second segment have it, too, and a pair's type is checked
/// when it is run.
bool tokenizer_fits(const TokenizerHeader& tokenizer, const BlobHeader& model) {
  bool ok = tokenizer.token_count <= model.vocab_size;
  for (uint32_t i = 0; i < tokenizer.single.count; ++i) {
    ok = ok && tokenizer.single.pieces[i].type_id < model.type_vocab_size;
  }
  return ok;
}

}  // namespace

embert_status check_blob(const uint8_t* blob, size_t blob_bytes, Crc32cFn crc32c) {
  if (reinterpret_cast<uintptr_t>(blob) % kBlobAlignment != 0) return EMBERT_STATUS_BLOB_MISALIGNED;
  if (blob_bytes < sizeof(BlobHeader)) return EMBERT_STATUS_BLOB_TRUNCATED;
  const BlobHeader& header = *reinterpret_cast<const BlobHeader*>(blob);
  if (memcmp(header.magic, kBlobMagic, sizeof(kBlobMagic)) != 0) return EMBERT_STATUS_BLOB_MAGIC;
  if (header.version != kBlobVersion) return EMBERT_STATUS_BLOB_VERSION;
  if (blob_bytes < header.blob_bytes) return EMBERT_STATUS_BLOB_TRUNCATED;
  if (header.blob_bytes < sizeof(BlobHeader)) return EMBERT_STATUS_BLOB_HEADER;
  const size_t size = static_cast<size_t>(header.blob_bytes);
  if (crc32c(0, blob + kBlobCrcStart, size - kBlobCrcStart) != header.crc32c)
    return EMBERT_STATUS_BLOB_CHECKSUM;
  if (header.layout != kLayoutN16K4) return EMBERT_STATUS_LAYOUT;
  if (!header_ok(header)) return EMBERT_STATUS_BLOB_HEADER;

  const uint64_t table_end =
      sizeof(BlobHeader) + uint64_t{header.section_count} * sizeof(BlobSection);
  if (table_end > header.blob_bytes) return EMBERT_STATUS_BLOB_SECTION;
  Walk walk = {blob, header, reinterpret_cast<const BlobSection*>(blob + sizeof(BlobHeader)),
               table_end};
  const embert_status sections = check_sections(walk);
  if (sections != EMBERT_STATUS_OK) return sections;
  for (size_t i = 0; i < header.section_count; ++i) {
    if (!values_ok(walk, i)) return EMBERT_STATUS_BLOB_VALUE;
  }
  return EMBERT_STATUS_OK;
}

}  // namespace embert

embert_status embert_model_open(const void* blob, size_t blob_bytes, uint32_t isa_mask,
                                embert_model* object) {
  using namespace embert;
  if (blob == nullptr || object == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  if ((isa_mask & ~compiled_isas()) != 0) return EMBERT_STATUS_ISA;
  const uint8_t* bytes = static_cast<const uint8_t*>(blob);
  const embert_status status = check_blob(bytes, blob_bytes, select_kernels(isa_mask).crc32c);
  if (status != EMBERT_STATUS_OK) return status;

  Model model = {};
  model.blob = bytes;
  model.header = reinterpret_cast<const BlobHeader*>(bytes);
  model.sections = reinterpret_cast<const BlobSection*>(bytes + sizeof(BlobHeader));
  model.isa_mask = isa_mask;
  const size_t tokenizer_bytes = model_section_bytes(model, kSectionTokenizer);
  if (tokenizer_bytes > 0) {
    const uint8_t* section = model_section(model, kSectionTokenizer);
    if (tokenizer_open(section, tokenizer_bytes, &model.tokenizer) != TokenizerStatus::kOk ||
        !tokenizer_fits(*model.tokenizer.header, *model.header)) {
      return EMBERT_STATUS_BLOB_TOKENIZER;
    }
    model.has_tokenizer = 1;
  }
  memset(object, 0, sizeof(*object));
  memcpy(object->opaque, &model, sizeof(model));
  return EMBERT_STATUS_OK;
}
