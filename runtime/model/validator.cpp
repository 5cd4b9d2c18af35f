// SPDX-License-Identifier: Apache-2.0
// The validator: a blob may be hostile until every value that later code relies on has been
// checked.
// FORMAT.md lists the same rules. Checks run in the order magic, version, size, checksum, header
// fields, sections, so that a damaged file gets the status of a damaged file.
#include <string.h>

#include "embert/embert_inspect.h"
#include "kernels/dispatch.hpp"
#include "runtime/model/built_flags.hpp"
#include "runtime/model/model.hpp"
#include "runtime/model/optional_sections.hpp"
#include "runtime/model/record_checks.hpp"
#include "runtime/model/scale.hpp"
#include "runtime/model/section_walk.hpp"

namespace embert {
namespace {

/// A table of word embeddings and nothing else.
bool static_stack_ok(const BlobStack& s) {
  return (s.flags & ~uint32_t{kStackEmbeddings4Bit}) == kStackStatic &&
         in_range(s.hidden_size, 1, kMaxHiddenSize) && in_range(s.vocab_size, 1, kMaxVocabSize) &&
         in_range(s.max_positions, 1, kMaxPositions) && s.type_vocab_size == 1 &&
         scale_ok(s.embedding_scale) && s.hidden_scale == s.embedding_scale && s.num_layers == 0 &&
         s.num_heads == 0 && s.head_size == 0 && s.intermediate_size == 0 && s.activation == 0 &&
         s.position_kind == 0 && s.cross_hidden_size == 0 && s.cross_scale == 0 &&
         s.sum_scale == 0 && all_zero(s.final_norm);
}

/// Options that stand beside no others but word embeddings of 4 bits.
constexpr uint32_t kOfMobileBert = kStackBottleneck | kStackWordProjection;

bool stack_ok(const BlobStack& s) {
  if ((s.flags & kStackStatic) != 0) return static_stack_ok(s);
  const bool cross = (s.flags & kStackCrossAttention) != 0;
  return (s.flags & ~uint32_t{kStackFlagsAll}) == 0 && in_range(s.hidden_size, 1, kMaxHiddenSize) &&
         in_range(s.num_layers, 1, kMaxLayers) && in_range(s.num_heads, 1, kMaxHeads) &&
         in_range(s.head_size, 1, kMaxHeadSize) && s.num_heads * s.head_size <= kMaxHiddenSize &&
         in_range(s.intermediate_size, 1, kMaxIntermediateSize) &&
         in_range(s.vocab_size, 1, kMaxVocabSize) && in_range(s.max_positions, 1, kMaxPositions) &&
         in_range(s.type_vocab_size, 1, kMaxTypes) && s.activation < kActivationCount &&
         s.position_kind < kPositionKindCount &&
         (cross ? in_range(s.cross_hidden_size, 1, kMaxHiddenSize) : s.cross_hidden_size == 0) &&
         (!cross || (s.flags & kStackCausal) != 0) && scale_ok(s.embedding_scale) &&
         scale_ok(s.hidden_scale) && (!cross || scale_ok(s.cross_scale)) &&
         ((s.flags & kStackBottleneck) != 0 ? optional_norm_ok(s.final_norm)
                                            : norm_ok(s.final_norm)) &&
         ((s.flags & kOfMobileBert) == 0 ||
          ((s.flags & ~uint32_t{kOfMobileBert | kStackEmbeddings4Bit}) == 0 &&
           s.position_kind == kPositionTable)) &&
         ((s.flags & (kStackPaddingPosition | kStackScoreBias)) == 0 ||
          (s.position_kind == kPositionTable && (s.flags & (kStackCausal | kStackRotary)) == 0)) &&
         ((s.flags & kStackRotary) == 0 ||
          (s.position_kind == kPositionTable && s.head_size % 2 == 0)) &&
         ((s.flags & kStackEmbeddingNorm) == 0 || (s.flags & kStackPreNorm) != 0);
}

bool header_ok(const BlobHeader& h) {
  if (!in_range(h.num_stacks, 1, kMaxStacks)) return false;
  bool ok = (h.task_heads & ~uint32_t{kHeadAll}) == 0;
  uint32_t sections = kSectionsOfModel;
  for (uint32_t i = 0; i < h.num_stacks; ++i) {
    ok = ok && stack_ok(h.stacks[i]);
    sections += ok ? stack_sections(h.stacks[i].num_layers) : 0;
  }
  if (!ok) return false;
  const BlobStack& last = h.stacks[h.num_stacks - 1];
  const auto has = [&](uint32_t head) { return (h.task_heads & head) != 0; };
  const bool lm_transform = has(kHeadLmTransform);
  const bool pools_dense = has(kHeadPooler) && !has(kHeadPooledAsIs);
  if (h.num_stacks == 1) {
    ok = all_zero(h.stacks[1]) && !has(kHeadProjection) &&
         ((last.flags & kStackStatic) == 0 || (h.task_heads & ~uint32_t{kHeadVector}) == 0);
  } else {
    const uint32_t width = h.stacks[0].hidden_size;
    // The options that other families brought belong to a lone encoder.
    constexpr uint32_t kOfLoneStack = kStackFlagsWithSection | kStackEmbeddingNorm;
    ok = (h.stacks[0].flags & (kStackCausal | kStackCrossAttention)) == 0 &&
         ((h.stacks[0].flags | last.flags) & kOfLoneStack) == 0 &&
         (last.flags & kStackCrossAttention) != 0 &&
         (has(kHeadProjection) || last.cross_hidden_size == width);
  }
  ok = ok && in_range(h.max_tokens, 1, last.max_positions) && h.pooling < kPoolingCount &&
       h.normalize <= 1 && (!has(kHeadClassifier) || has(kHeadPooler)) &&
       (has(kHeadLm) || !(has(kHeadLmUntied) || lm_transform)) &&
       (!has(kHeadPooledTransform) || has(kHeadPooler)) &&
       (!has(kHeadPooledAsIs) || (has(kHeadPooler) && !has(kHeadPooledTransform))) &&
       (!has(kHeadTokenTransform) || has(kHeadTokenClassifier)) &&
       // Rows of the embeddings' width read a transform's output.
       (!has(kHeadLm) || lm_transform || (last.flags & kStackEmbeddingProjection) == 0) &&
       // Tied rows have 8 bits, and the width of the transform's output.
       (!has(kHeadLm) || has(kHeadLmUntied) ||
        (last.flags & (kStackEmbeddings4Bit | kStackWordProjection)) == 0) &&
       (!has(kHeadLmActivation) || lm_transform) && h.classifier_task < kClassifierTaskCount &&
       h.problem < kProblemCount && h.token_task < kTokenTaskCount &&
       (has(kHeadClassifier) ? in_range(h.num_labels, 1, kMaxLabels) : h.num_labels == 0) &&
       (has(kHeadTokenClassifier) ? in_range(h.num_token_labels, 1, kMaxLabels)
                                  : h.num_token_labels == 0) &&
       (h.token_task != kTaskAnswer || h.num_token_labels == 2) &&
       (!has(kHeadPooler) || scale_ok(h.pooled_scale)) &&
       (!has(kHeadClassifier) || scale_ok(h.logits_scale)) &&
       (!has(kHeadTokenClassifier) || scale_ok(h.token_logits_scale)) &&
       (!has(kHeadLm) || scale_ok(h.lm_logits_scale)) &&
       (h.start_id < last.vocab_size || h.start_id == UINT32_MAX) &&
       (h.end_id < last.vocab_size || h.end_id == UINT32_MAX) &&
       dense16_ok(h.pooler, pools_dense) && dense16_ok(h.classifier, has(kHeadClassifier)) &&
       dense16_ok(h.token_classifier, has(kHeadTokenClassifier)) &&
       dense16_ok(h.lm_transform, lm_transform) && dense16_ok(h.projection, has(kHeadProjection)) &&
       (lm_transform ? norm_ok(h.lm_norm) && h.lm_exponent >= 5 && h.lm_exponent <= 12
                     : all_zero(h.lm_norm) && h.lm_exponent == 0) &&
       h.lm_shift >= 0 && h.lm_shift <= (has(kHeadLm) ? 40 : 0) && h.section_count >= sections &&
       (h.section_count == sections || h.version != kBlobVersionWithoutOptional);
  for (uint8_t byte : h.reserved) ok = ok && byte == 0;
  return ok;
}

bool layer_ok(const BlobStack& s, const BlobLayer& l) {
  const bool pre = (s.flags & kStackPreNorm) != 0, cross = (s.flags & kStackCrossAttention) != 0;
  const bool norms = has_norm(s.final_norm);
  // In a post-norm stack the first layer may lack its norm: it reads the embedding sum as it is.
  return in_range(l.num_heads, 1, s.num_heads) &&
         in_range(l.intermediate_size, 1, s.intermediate_size) && l.activation_exponent >= 5 &&
         l.activation_exponent <= 12 && attention_ok(l.self) && shifts_ok(l.query_relative) &&
         shifts_ok(l.key_relative) && shifts_ok(l.ffn_up) && shifts_ok(l.ffn_down) &&
         (pre ? norm_ok(l.input_norm) : optional_norm_ok(l.input_norm)) &&
         (norms ? norm_ok(l.norm_after_attn)
                : all_zero(l.input_norm) && all_zero(l.norm_after_attn)) &&
         l.reserved == 0 &&
         (cross ? attention_ok(l.cross) && norm_ok(l.norm_after_cross) && l.cross_join_shift >= 0 &&
                      l.cross_join_shift <= 8
                : all_zero(l.cross) && all_zero(l.norm_after_cross) && l.cross_join_shift == 0);
}

/// Of a layer that uses another's sections: it has an input norm of its own, or nothing.
bool shared_layer_ok(const BlobLayer& l) {
  BlobLayer rest = l;
  rest.input_norm = {};
  return all_zero(rest) && optional_norm_ok(l.input_norm);
}

void check_shared_layer(Walk& walk, const BlobStack& s, const BlobLayer& l) {
  walk.norm(kSectionInputNorm, has_norm(l.input_norm), s.hidden_size);
  for (uint32_t kind = kSectionHiddenRescale; kind <= kSectionFfnDown; ++kind) walk.next(kind, 0);
}

/// One residual dense layer, or one for each of two groups of columns.
void check_ffn_down(Walk& walk, size_t n, size_t k, size_t first_columns) {
  if (first_columns == 0) return walk.residual_dense(kSectionFfnDown, true, n, k);
  walk.require_value(first_columns % kPanelColumns == 0 && first_columns < k);
  if (!walk.sound()) return;
  const size_t first = residual_dense_bytes(n, first_columns), second = k - first_columns;
  const uint8_t* at = walk.next(kSectionFfnDown, first + residual_dense_bytes(n, second));
  if (at == nullptr) return;
  walk.residual_dense(at, n, first_columns);
  walk.residual_dense(at + first, n, second);
}

/// The options of a layer that its record does not have.
struct LayerOptions {
  const BlobBottleneck& bottleneck;
  bool rescaled;         ///< its input has a scale of its own in each channel
  size_t first_columns;  ///< BlobPlanes::first_columns
  size_t copied_inputs;  ///< BlobPlanes::copied_inputs
  bool exact;            ///< its scores serve exponentials of 14 bits
};

void check_layer(Walk& walk, const BlobStack& s, const BlobLayer& l, const LayerOptions& options) {
  const BlobBottleneck& bottleneck = options.bottleneck;
  const bool cross = (s.flags & kStackCrossAttention) != 0;
  const bool relative = s.position_kind != kPositionTable;
  const bool biased = (s.flags & kStackScoreBias) != 0;
  const size_t hidden = s.hidden_size, intra = bottleneck.intra_size, heads = l.num_heads,
               columns = pad_columns(s.head_size), width = heads * s.head_size,
               table_columns = pad_columns(2 * s.max_positions - 1);
  walk.norm(kSectionInputNorm, has_norm(l.input_norm), hidden);
  walk.next(kSectionHiddenRescale, options.rescaled ? 8 * hidden : 0);  // any values
  walk.dense(kSectionQkv, true, heads * qkv_parts(bottleneck.kind) * columns,
             reads_hidden(bottleneck.kind) ? hidden : intra);
  walk.scores(kSectionScores, true, heads, options.exact);
  walk.multipliers(kSectionContext, heads * columns, INT32_MAX);
  const size_t inputs = pad_inputs(s.head_size);
  if (const uint8_t* table = walk.next(kSectionRelativePositions,
                                       relative ? table_columns * inputs + 4 * table_columns : 0)) {
    walk.weights(reinterpret_cast<const int8_t*>(table), table_columns, inputs,
                 reinterpret_cast<const int32_t*>(table + table_columns * inputs));
  }
  walk.multipliers(kSectionRelativeRatios,
                   s.position_kind == kPositionRelativeKeyQuery ? 2 * heads
                   : relative || biased                         ? heads
                                                                : 0,
                   INT32_MAX);
  walk.residual_dense(kSectionAttnOut, true, intra, width);
  walk.norm(kSectionNormAfterAttn, has_norm(l.norm_after_attn), intra);
  walk.dense(kSectionCrossQuery, cross, heads * columns, hidden);
  walk.dense(kSectionCrossKeyValue, cross, heads * 2 * columns, s.cross_hidden_size);
  walk.scores(kSectionCrossScores, cross, heads, false);
  walk.multipliers(kSectionCrossContext, cross ? heads * columns : 0, INT32_MAX);
  walk.residual_dense(kSectionCrossOut, cross, hidden, width);
  walk.norm(kSectionNormAfterCross, cross, hidden);
  const size_t inner = l.intermediate_size;
  const bool gated = (s.flags & kStackGatedFfn) != 0;
  walk.dense(kSectionFfnUp, true, gated ? 2 * pad_columns(inner) : inner,
             intra + options.copied_inputs);
  check_ffn_down(walk, intra, inner, options.first_columns);
}

/// A row and a multiplier for each token of the vocabulary.
void check_vocab_rows(Walk& walk, uint32_t rows_kind, uint32_t tokens, size_t size) {
  if (const int8_t* rows = walk.array<int8_t>(rows_kind, uint64_t{tokens} * size)) {
    walk.require_value(all_in<int8_t>(rows, size_t{tokens} * size, -127, 127));
  }
  walk.multipliers(rows_kind + 1, tokens, kMaxWordMultiplier);
}

void check_stack(Walk& walk, const BlobStack& s, uint32_t index, StackOptions& options) {
  const size_t size = options.embedding_size;
  walk.enter(index, 0);
  const BlobLayer* layers = walk.array<BlobLayer>(kSectionLayers, s.num_layers);
  options.layers = layers;
  if ((s.flags & kStackEmbeddings4Bit) != 0) {
    walk.next(kSectionWordEmbeddings, 0);
    walk.multipliers(kSectionWordMultipliers, s.vocab_size, kMaxWordMultiplier4Bit);
  } else {
    check_vocab_rows(walk, kSectionWordEmbeddings, s.vocab_size, options.word_size);
  }
  const bool is_static = (s.flags & kStackStatic) != 0;
  const size_t padding_row = (s.flags & kStackPaddingPosition) != 0 ? 1 : 0;
  const size_t position_rows =
      is_static || (s.flags & kStackRotary) != 0 ? 1 : s.max_positions + padding_row;
  walk.next(kSectionPositions, position_rows * size * 2);  // any values
  if (const int16_t* segments = walk.array<int16_t>(kSectionSegments, s.type_vocab_size * size)) {
    walk.require_value(all_in<int16_t>(segments, size, 0, 0));
  }
  uint32_t most_heads = 0, widest = 0;
  for (uint32_t l = 0; l < s.num_layers && walk.sound(); ++l) {
    const BlobLayer& layer = layers[l];
    const BlobSharedLayer use =
        options.shared != nullptr ? options.shared[l] : BlobSharedLayer{l, l};
    const bool own = use.layer == l;
    const bool normalized = has_norm(layers[use.input_norm].input_norm);
    walk.require_value((own ? layer_ok(s, layer) : shared_layer_ok(layer)) &&
                       (use.input_norm == l || !has_norm(layer.input_norm)) &&
                       (l == 0 || normalized == has_norm(s.final_norm)));
    if (!walk.sound()) return;
    walk.enter(index, l);
    if (!own) {
      check_shared_layer(walk, s, layer);
      continue;
    }
    if (layer.num_heads > most_heads) most_heads = layer.num_heads;
    if (layer.intermediate_size > widest) widest = layer.intermediate_size;
    const bool sums_words = (s.flags & (kStackEmbeddingProjection | kStackWordProjection)) == 0;
    const bool projected = (l > 0 || !sums_words) && !normalized;
    const bool pre = (s.flags & kStackPreNorm) != 0;
    const bool embedding_norm = l == 0 && (s.flags & kStackEmbeddingNorm) != 0;
    const bool rescaled = pre ? normalized && embedding_norm : normalized || projected;
    check_layer(walk, s, layer,
                {options.bottleneck, rescaled, options.first_columns(l), options.copied_inputs(l),
                 options.exact_scores(l)});
  }
  // The header must give the sizes of the largest layer: the arena is planned from them. A wider
  // feed-forward network may stand in an optional section.
  walk.require(most_heads == s.num_heads &&
                   (options.bottleneck.num_ffns > 1 ? widest <= s.intermediate_size
                                                    : widest == s.intermediate_size),
               EMBERT_STATUS_BLOB_HEADER);
  walk.enter(index, 0);
  walk.norm(kSectionFinalNorm, has_norm(s.final_norm), s.hidden_size);
}

void check_selftest(Walk& walk, const BlobHeader& h, bool has_tokenizer) {
  uint64_t bytes = 0;
  const uint8_t* section = walk.next_of_any_size(kSectionSelftest, &bytes);
  if (section == nullptr || bytes == 0) return;
  walk.require(bytes >= sizeof(BlobSelftest), EMBERT_STATUS_BLOB_SECTION);
  if (!walk.sound()) return;
  const BlobSelftest& test = *reinterpret_cast<const BlobSelftest*>(section);
  walk.require_value(in_range(test.tokens, 1, kMaxSelftestTokens) && test.tokens <= h.max_tokens);
  if (!walk.sound()) return;
  const uint64_t before_text = sizeof(test) + test.tokens * sizeof(int32_t);
  walk.require(has_tokenizer ? bytes >= before_text : bytes == before_text,
               EMBERT_STATUS_BLOB_SECTION);
  if (!walk.sound()) return;
  const int32_t* ids = reinterpret_cast<const int32_t*>(section + sizeof(test));
  for (uint32_t i = 0; i < h.num_stacks; ++i) {
    const BlobStack& stack = h.stacks[i];
    walk.require_value(
        test.tokens <= stack.max_positions &&
        all_in<int32_t>(ids, test.tokens, 0, static_cast<int32_t>(stack.vocab_size) - 1));
  }
}

/// Checks position, size and values of every section.
embert_status check_sections(const uint8_t* blob, const BlobHeader& h) {
  Walk walk(blob, h);
  StackOptions options = {};
  for (uint32_t i = 0; i < h.num_stacks; ++i) {
    options = peek_stack_options(walk, h.stacks[i]);
    check_stack(walk, h.stacks[i], i, options);
  }
  const BlobStack& last = h.stacks[h.num_stacks - 1];
  const size_t hidden = last.hidden_size, embedding_size = options.embedding_size;
  const auto has = [&](uint32_t head) { return (h.task_heads & head) != 0; };
  walk.enter(0, 0);
  walk.dense(kSectionPooler, has(kHeadPooler) && !has(kHeadPooledAsIs), hidden, hidden);
  walk.dense(kSectionClassifier, has(kHeadClassifier), h.num_labels, hidden);
  walk.dense(kSectionTokenClassifier, has(kHeadTokenClassifier), h.num_token_labels, hidden);
  walk.dense(kSectionLmTransform, has(kHeadLmTransform), embedding_size, hidden);
  walk.norm(kSectionLmNorm, has(kHeadLmTransform), embedding_size);
  check_vocab_rows(walk, kSectionLmRows, has(kHeadLmUntied) ? last.vocab_size : 0, embedding_size);
  const size_t lm_tokens = has(kHeadLm) ? last.vocab_size : 0;
  if (const int32_t* bias = walk.array<int32_t>(kSectionLmBias, lm_tokens)) {
    walk.require_value(all_within(bias, lm_tokens, kMaxDenseBias));
  }
  walk.dense(kSectionProjection, has(kHeadProjection), last.cross_hidden_size,
             h.stacks[0].hidden_size);
  uint64_t tokenizer = 0, any = 0;
  walk.next_of_any_size(kSectionTokenizer, &tokenizer);  // tokenizer_open checks it
  walk.names(kSectionLabels, h.num_labels);
  walk.names(kSectionTokenLabels, h.num_token_labels);
  walk.next_of_any_size(kSectionCertificate, &any);  // text
  check_selftest(walk, h, tokenizer > 0);
  check_optional_sections(walk, h, options);
  return walk.finish();
}

/// Whether the model takes every single text that the tokenizer makes. The template for pairs is
/// not checked: models without a second segment have it, too, and a run checks the types of a pair.
bool tokenizer_fits(const TokenizerHeader& tokenizer, const BlobStack& model) {
  bool ok = tokenizer.token_count <= model.vocab_size;
  for (uint32_t i = 0; i < tokenizer.single.count; ++i) {
    ok = ok && tokenizer.single.pieces[i].type_id < model.type_vocab_size;
  }
  return ok;
}

/// Validates a blob of unknown origin. After EMBERT_STATUS_OK everything that the functions of
/// model.hpp return lies inside the blob, and its values keep the bounds with which the kernels'
/// arithmetic can not overflow. Code below needs no further checks.
embert_status check_blob(const uint8_t* blob, size_t blob_bytes, Crc32cFn crc32c) {
  if (reinterpret_cast<uintptr_t>(blob) % kBlobAlignment != 0) return EMBERT_STATUS_BLOB_MISALIGNED;
  if (blob_bytes < sizeof(BlobHeader)) return EMBERT_STATUS_BLOB_TRUNCATED;
  const BlobHeader& header = *reinterpret_cast<const BlobHeader*>(blob);
  if (memcmp(header.magic, kBlobMagic, sizeof(kBlobMagic)) != 0) return EMBERT_STATUS_BLOB_MAGIC;
  if (!in_range(header.version, kBlobVersionWithoutOptional, kBlobVersion)) {
    return EMBERT_STATUS_BLOB_VERSION;
  }
  if (blob_bytes < header.blob_bytes) return EMBERT_STATUS_BLOB_TRUNCATED;
  if (header.blob_bytes < sizeof(BlobHeader)) return EMBERT_STATUS_BLOB_HEADER;
  const size_t size = static_cast<size_t>(header.blob_bytes);
  if (crc32c(0, blob + kBlobCrcStart, size - kBlobCrcStart) != header.crc32c)
    return EMBERT_STATUS_BLOB_CHECKSUM;
  if (header.layout != kLayoutN16K4 && !(kOpensN8K16 && header.layout == kLayoutN8K16)) {
    return EMBERT_STATUS_LAYOUT;
  }
  if (!header_ok(header)) return EMBERT_STATUS_BLOB_HEADER;
  for (uint32_t i = 0; i < header.num_stacks; ++i) {
    if ((header.stacks[i].flags & ~kBuiltStackFlags) != 0) return EMBERT_STATUS_NOT_BUILT;
  }

  return check_sections(blob, header);
}

}  // namespace
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
    const TokenizerStatus opened = tokenizer_open(section, tokenizer_bytes, &model.tokenizer);
    if (opened == TokenizerStatus::kSectionModelNotBuilt) {
      return EMBERT_STATUS_NOT_BUILT;
    }
    if (opened != TokenizerStatus::kOk ||
        !tokenizer_fits(*model.tokenizer.header, model.header->stacks[0])) {
      return EMBERT_STATUS_BLOB_TOKENIZER;
    }
    model.has_tokenizer = 1;
  }
  memset(object, 0, sizeof(*object));
  memcpy(object->opaque, &model, sizeof(model));
  return EMBERT_STATUS_OK;
}

uint32_t embert_crc32c(uint32_t crc, const void* data, size_t bytes) {
  using namespace embert;
  return select_kernels(kIsaScalar).crc32c(crc, static_cast<const uint8_t*>(data), bytes);
}
