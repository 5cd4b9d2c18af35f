// SPDX-License-Identifier: Apache-2.0
// The sections behind the required ones (FORMAT.md, section 8).
#include "runtime/model/optional_sections.hpp"
#include "runtime/model/built_flags.hpp"

#include "kernels/arithmetic/word_4bit.hpp"
#include "runtime/model/bottleneck_sections.hpp"
#include "runtime/model/record_checks.hpp"
#include "runtime/model/vector_section.hpp"

namespace embert {
namespace {

/// Of zero-terminated strings.
bool comes_before(const uint8_t* a, const uint8_t* b) {
  while (*a == *b && *a != 0) {
    ++a;
    ++b;
  }
  return *a < *b;
}

/// section: null after a failure.
void check_prompts(Walk& walk, const uint8_t* section, uint64_t bytes) {
  walk.require(bytes >= sizeof(BlobPrompts), EMBERT_STATUS_BLOB_SECTION);
  if (!walk.sound()) return;
  const BlobPrompts& prompts = *reinterpret_cast<const BlobPrompts*>(section);
  walk.require_value(
      in_range(prompts.count, 1, kMaxPrompts) &&
      (prompts.default_prompt < prompts.count || prompts.default_prompt == UINT32_MAX));
  const uint8_t* name = section + sizeof(prompts);
  walk.strings(name, bytes - sizeof(prompts), 2 * prompts.count);
  const uint8_t empty = 0, *previous = &empty;
  for (uint32_t i = 0; i < prompts.count && walk.sound(); ++i) {
    walk.require_value(comes_before(previous, name));  // an empty name comes before no other
    previous = name;
    for (uint32_t ends = 0; ends < 2; ++name) ends += *name == 0;  // to the next name
  }
}

void check_padding_position(Walk& walk, const BlobStack& stack, const uint8_t* section,
                            uint64_t bytes) {
  walk.require(bytes == sizeof(BlobPaddingPosition), EMBERT_STATUS_BLOB_SECTION);
  if (!walk.sound()) return;
  const BlobPaddingPosition& record = *reinterpret_cast<const BlobPaddingPosition*>(section);
  walk.require_value(record.padding_id < stack.vocab_size && record.reserved == 0);
}

void check_score_bias(Walk& walk, const BlobStack& stack, const uint8_t* section, uint64_t bytes) {
  const size_t values = size_t{stack.num_heads} * (2 * stack.max_positions - 1);
  walk.require(bytes == values * sizeof(int32_t), EMBERT_STATUS_BLOB_SECTION);
  if (!walk.sound()) return;
  walk.require_value(all_within(reinterpret_cast<const int32_t*>(section), values, kMaxScoreBias));
}

void check_projection(Walk& walk, const BlobStack& stack, const uint8_t* section, uint64_t bytes) {
  using Record = BlobEmbeddingProjection;
  walk.require(bytes >= sizeof(Record), EMBERT_STATUS_BLOB_SECTION);
  if (!walk.sound()) return;
  const Record& record = *reinterpret_cast<const Record*>(section);
  walk.require_value(in_range(record.embedding_size, 1, kMaxHiddenSize) && record.reserved == 0 &&
                     norm_ok(record.norm) && dense16_ok(record.dense) && all_zero(record.padding));
  if (!walk.sound()) return;
  const size_t size = record.embedding_size, hidden = stack.hidden_size;
  const size_t dense = dense_bytes(hidden, size);
  walk.require(bytes == sizeof(Record) + dense + norm_bytes(size), EMBERT_STATUS_BLOB_SECTION);
  if (!walk.sound()) return;
  walk.dense_values(section + sizeof(Record), hidden, size);
  walk.norm_parts(reinterpret_cast<const int32_t*>(section + sizeof(Record) + dense), size);
}

/// A number stands for the layer itself, or for an earlier one that has sections of its own.
bool shared_layers_ok(const BlobSharedLayer* shared, uint32_t num_layers) {
  for (uint32_t l = 0; l < num_layers; ++l) {
    const auto [layer, input_norm] = shared[l];
    if (layer > l || shared[layer].layer != layer || input_norm > l ||
        shared[input_norm].input_norm != input_norm) {
      return false;
    }
  }
  return true;
}

void check_rotary(Walk& walk, const BlobStack& stack, const uint8_t* section, uint64_t bytes) {
  walk.require(bytes >= sizeof(BlobRotary), EMBERT_STATUS_BLOB_SECTION);
  if (!walk.sound()) return;
  const BlobRotary& record = *reinterpret_cast<const BlobRotary*>(section);
  const bool is_local = (stack.flags & kStackLocalAttention) != 0;
  walk.require_value(in_range(record.tables, 1, is_local ? 2 : 1) && record.reserved == 0 &&
                     shifts_ok(record.shifts));
  if (!walk.sound()) return;
  const size_t columns = pad_columns(stack.head_size);
  const size_t angles = size_t{record.tables} * stack.max_positions * stack.head_size;
  walk.require(bytes == sizeof(record) + 4 * columns + 2 * angles, EMBERT_STATUS_BLOB_SECTION);
  if (!walk.sound()) return;
  const int32_t* multipliers = reinterpret_cast<const int32_t*>(section + sizeof(record));
  walk.require_value(all_in<int32_t>(multipliers, columns, 0, INT32_MAX) &&
                     all_in<int16_t>(reinterpret_cast<const int16_t*>(multipliers + columns),
                                     angles, -kMaxRotaryAngle, kMaxRotaryAngle));
}

void check_local_attention(Walk& walk, const uint8_t* section, uint64_t bytes) {
  walk.require(bytes == sizeof(BlobLocalAttention), EMBERT_STATUS_BLOB_SECTION);
  if (!walk.sound()) return;
  const BlobLocalAttention& record = *reinterpret_cast<const BlobLocalAttention*>(section);
  walk.require_value(in_range(record.period, 1, kMaxLayers) && record.reach < kMaxPositions);
}

void check_gated_ffn(Walk& walk, const BlobStack& stack, const uint8_t* section, uint64_t bytes) {
  walk.require(bytes == stack.num_layers * sizeof(BlobGatedFfn), EMBERT_STATUS_BLOB_SECTION);
  if (!walk.sound()) return;
  const BlobGatedFfn* records = reinterpret_cast<const BlobGatedFfn*>(section);
  for (uint32_t l = 0; l < stack.num_layers; ++l) {
    walk.require_value(records[l].shift >= 0 && records[l].shift <= 15);
  }
}

bool activation_ok(uint32_t activation, int32_t exponent) {
  return activation < kActivationCount && exponent >= 5 && exponent <= 12;
}

/// own_dense: the section holds the dense layer, too.
void check_head_transform(Walk& walk, const uint8_t* section, uint64_t bytes, size_t hidden,
                          bool own_dense) {
  walk.require(bytes >= sizeof(BlobHeadTransform), EMBERT_STATUS_BLOB_SECTION);
  if (!walk.sound()) return;
  const BlobHeadTransform& head = *reinterpret_cast<const BlobHeadTransform*>(section);
  walk.require_value(optional_norm_ok(head.norm) && dense16_ok(head.dense, own_dense) &&
                     activation_ok(head.activation, head.exponent) &&
                     head.mean <= (own_dense ? 0 : 1) && all_zero(head.reserved));
  const size_t dense = own_dense ? dense_bytes(hidden, hidden) : 0;
  const size_t norm = has_norm(head.norm) ? 8 * hidden : 0;
  walk.require(bytes == sizeof(head) + dense + norm, EMBERT_STATUS_BLOB_SECTION);
  if (!walk.sound()) return;
  const uint8_t* parts = section + sizeof(head);
  if (own_dense) walk.dense_values(parts, hidden, hidden);
  if (norm > 0) walk.norm_parts(reinterpret_cast<const int32_t*>(parts + dense), hidden);
}

void check_lm_activation(Walk& walk, const uint8_t* section, uint64_t bytes) {
  walk.require(bytes == sizeof(BlobLmActivation), EMBERT_STATUS_BLOB_SECTION);
  if (!walk.sound()) return;
  const BlobLmActivation& record = *reinterpret_cast<const BlobLmActivation*>(section);
  walk.require_value(record.activation < kActivationCount && record.reserved == 0);
}

void check_static(Walk& walk, const BlobStack& stack, const uint8_t* section, uint64_t bytes) {
  walk.require(bytes == sizeof(BlobStatic), EMBERT_STATUS_BLOB_SECTION);
  if (!walk.sound()) return;
  const BlobStatic& record = *reinterpret_cast<const BlobStatic*>(section);
  walk.require_value((record.dropped_id < stack.vocab_size || record.dropped_id == UINT32_MAX) &&
                     all_zero(record.reserved));
}

/// Any codes and scales are good; the multipliers are a section of their own.
void check_embeddings_4bit(Walk& walk, const BlobStack& stack, size_t word_size,
                           const uint8_t* section, uint64_t bytes) {
  const uint64_t rows = uint64_t{stack.vocab_size} * word_row_bytes(word_size);
  walk.require(bytes == sizeof(BlobEmbeddings4Bit) + rows, EMBERT_STATUS_BLOB_SECTION);
  if (!walk.sound()) return;
  const BlobEmbeddings4Bit& record = *reinterpret_cast<const BlobEmbeddings4Bit*>(section);
  walk.require_value(all_in<int8_t>(record.levels, kWordLevels, -127, 127) &&
                     all_zero(record.reserved));
}

void check_planes(Walk& walk, const BlobStack& stack, const StackOptions& options,
                  const uint8_t* section, uint64_t bytes) {
  const size_t bytes_of_records = stack.num_layers * sizeof(BlobPlanes);
  walk.require(bytes >= bytes_of_records, EMBERT_STATUS_BLOB_SECTION);
  if (!walk.sound()) return;
  const BlobPlanes* records = reinterpret_cast<const BlobPlanes*>(section);
  size_t copied = 0;
  for (uint32_t l = 0; l < stack.num_layers; ++l) copied += records[l].copied_inputs;
  walk.require(bytes == bytes_of_records + copied * sizeof(uint16_t), EMBERT_STATUS_BLOB_SECTION);
  if (!walk.sound()) return;
  walk.require_value(all_in<uint16_t>(reinterpret_cast<const uint16_t*>(records + stack.num_layers),
                                      copied, 0, static_cast<uint16_t>(stack.hidden_size - 1)));
  const auto none_or_all = [](uint8_t rows) { return rows == kPlanesNone || rows == kPlanesAll; };
  // Queries and keys of 16 bits: of an encoder whose scores are their products alone. Their factors
  // have room for 8 more bits.
  const bool plain_scores = stack.position_kind == kPositionTable &&
                            (stack.flags & (kStackCausal | kStackScoreBias | kStackRotary)) == 0;
  const auto finer = [](const BlobShifts& shifts) { return shifts.left + 8 <= 15; };
  const auto scores_ok = [&](uint32_t l) {
    const BlobAttention& self = options.layers[options.owner(l)].self;
    return plain_scores && records[l].qkv == kPlanesAll && finer(self.query) && finer(self.key);
  };
  for (uint32_t l = 0; l < stack.num_layers; ++l) {
    const BlobPlanes& r = records[l];
    const BlobPlanes& owner = records[options.owner(l)];
    // check_stack has seen the numbers of columns of layers with sections of their own.
    walk.require_value(
        r.qkv <= kPlanesAll && none_or_all(r.attn_out) && none_or_all(r.ffn_up) &&
        none_or_all(r.ffn_down) &&
        (none_or_all(r.probabilities) || (r.probabilities == kPlanesScores && scores_ok(l))) &&
        r.copied_inputs == owner.copied_inputs && r.first_columns == owner.first_columns);
  }
}

/// The flag that demands a kind of section; 0 for those that any model may have.
constexpr uint32_t flag_of(uint32_t kind) {
  switch (kind) {
    case kSectionPaddingPosition:
      return kStackPaddingPosition;
    case kSectionScoreBias:
      return kStackScoreBias;
    case kSectionEmbeddingProjection:
      return kStackEmbeddingProjection;
    case kSectionSharedLayers:
      return kStackSharedLayers;
    case kSectionBottleneck:
      return kStackBottleneck;
    case kSectionWordProjection:
      return kStackWordProjection;
    case kSectionRotary:
      return kStackRotary;
    case kSectionLocalAttention:
      return kStackLocalAttention;
    case kSectionGatedFfn:
      return kStackGatedFfn;
    case kSectionStatic:
      return kStackStatic;
    case kSectionEmbeddings4Bit:
      return kStackEmbeddings4Bit;
    case kSectionPlanes:
      return kStackPlanes;
    default:
      return 0;
  }
}

/// The bit of task_heads that demands a section of this kind; 0 for other kinds.
uint32_t head_bit(uint32_t kind) {
  switch (kind) {
    case kSectionPooledTransform:
      return kHeadPooledTransform;
    case kSectionTokenTransform:
      return kHeadTokenTransform;
    case kSectionLmActivation:
      return kHeadLmActivation;
    case kSectionVector:
      return kHeadVector;
    default:
      return 0;
  }
}

}  // namespace

StackOptions peek_stack_options(Walk& walk, const BlobStack& stack) {
  const uint32_t hidden = stack.hidden_size;
  StackOptions options = {
      .embedding_size = hidden,
      .word_size = hidden,
      .bottleneck = {.intra_size = hidden, .num_ffns = 1, .kind = kBottleneckNone, .reserved = 0},
      .shared = nullptr,
      .planes = nullptr,
      .layers = nullptr,
      .num_layers = stack.num_layers};
  if (has(stack.flags, kStackEmbeddingProjection)) {
    const uint8_t* section =
        walk.peek(kSectionEmbeddingProjection, sizeof(BlobEmbeddingProjection));
    if (section == nullptr) return options;
    const uint32_t size = reinterpret_cast<const BlobEmbeddingProjection*>(section)->embedding_size;
    walk.require_value(in_range(size, 1, kMaxHiddenSize));
    options.embedding_size = options.word_size = size;
  }
  if (has(stack.flags, kStackWordProjection)) {
    const uint8_t* section = walk.peek(kSectionWordProjection, sizeof(BlobWordProjection));
    if (section == nullptr) return options;
    const uint32_t size = reinterpret_cast<const BlobWordProjection*>(section)->word_size;
    walk.require_value(in_range(size, 1, hidden));
    options.word_size = size;
  }
  if (has(stack.flags, kStackBottleneck)) {
    const uint8_t* section = walk.peek(kSectionBottleneck, sizeof(BlobBottleneck));
    if (section == nullptr) return options;
    options.bottleneck = *reinterpret_cast<const BlobBottleneck*>(section);
    walk.require_value(bottleneck_ok(options.bottleneck, stack));
  }
  if (has(stack.flags, kStackSharedLayers)) {
    const uint8_t* section =
        walk.peek(kSectionSharedLayers, stack.num_layers * sizeof(BlobSharedLayer));
    if (section == nullptr) return options;
    options.shared = reinterpret_cast<const BlobSharedLayer*>(section);
    walk.require_value(shared_layers_ok(options.shared, stack.num_layers));
  }
  if (has(stack.flags, kStackPlanes)) {
    const uint8_t* section = walk.peek(kSectionPlanes, stack.num_layers * sizeof(BlobPlanes));
    if (section == nullptr) return options;
    options.planes = reinterpret_cast<const BlobPlanes*>(section);
  }
  return options;
}

void check_optional_sections(Walk& walk, const BlobHeader& header, const StackOptions& options) {
  const BlobStack& stack = header.stacks[0];
  const bool narrow = options.bottleneck.kind != kBottleneckNone;
  const bool stacked = options.bottleneck.num_ffns > 1;
  const size_t hidden = header.stacks[header.num_stacks - 1].hidden_size;
  uint32_t previous = kFirstOptionalSection - 1, found = 0, found_heads = 0, found_layers = 0;
  while (walk.sound() && !walk.at_end()) {
    const uint32_t kind = walk.next_kind();
    walk.require(kind > previous, EMBERT_STATUS_BLOB_SECTION);
    previous = kind;
    found |= flag_of(kind);
    // Refused unread: without the flag `options` may belong to another stack.
    walk.require((flag_of(kind) & ~stack.flags) == 0, EMBERT_STATUS_BLOB_SECTION);
    if (!walk.sound()) break;
    if (built(kStackBottleneck) &&
        (kind == kSectionLayerBottleneck || kind == kSectionStackedFfn)) {
      walk.require(kind == kSectionLayerBottleneck ? narrow : stacked, EMBERT_STATUS_BLOB_SECTION);
      check_layer_sections(walk, kind, stack, options);
      found_layers |= kind == kSectionLayerBottleneck ? 1 : 2;
      continue;
    }
    const auto is = [&](uint32_t known) { return kind == known && built(flag_of(known)); };
    uint64_t bytes = 0;
    const uint8_t* section = walk.next_of_any_size(kind, &bytes);
    found_heads |= head_bit(kind);
    if (kind == kSectionPrompts) check_prompts(walk, section, bytes);
    if (is(kSectionPaddingPosition)) check_padding_position(walk, stack, section, bytes);
    if (is(kSectionScoreBias)) check_score_bias(walk, stack, section, bytes);
    if (is(kSectionEmbeddingProjection)) check_projection(walk, stack, section, bytes);
    if (is(kSectionSharedLayers)) {
      // Its values are those that peek_stack_options has checked: a kind is there once.
      walk.require(bytes == stack.num_layers * sizeof(BlobSharedLayer), EMBERT_STATUS_BLOB_SECTION);
    }
    if (is(kSectionBottleneck)) {
      // As of shared layers, peek_stack_options has checked the values.
      walk.require(bytes == sizeof(BlobBottleneck), EMBERT_STATUS_BLOB_SECTION);
    }
    if (is(kSectionWordProjection)) check_word_projection(walk, stack, section, bytes);
    if (is(kSectionRotary)) check_rotary(walk, stack, section, bytes);
    if (is(kSectionLocalAttention)) check_local_attention(walk, section, bytes);
    if (is(kSectionGatedFfn)) check_gated_ffn(walk, stack, section, bytes);
    if (kind == kSectionPooledTransform) check_head_transform(walk, section, bytes, hidden, false);
    if (kind == kSectionTokenTransform) check_head_transform(walk, section, bytes, hidden, true);
    if (kind == kSectionLmActivation) check_lm_activation(walk, section, bytes);
    if (is(kSectionStatic)) check_static(walk, stack, section, bytes);
    if (is(kSectionEmbeddings4Bit)) {
      check_embeddings_4bit(walk, stack, options.word_size, section, bytes);
    }
    if (is(kSectionPlanes)) check_planes(walk, stack, options, section, bytes);
    if (kind == kSectionVector) check_vector(walk, header, section, bytes);
  }
  walk.require(found == (stack.flags & kStackFlagsWithSection), EMBERT_STATUS_BLOB_SECTION);
  walk.require(found_layers == (narrow ? 1u : 0u) + (stacked ? 2u : 0u),
               EMBERT_STATUS_BLOB_SECTION);
  constexpr uint32_t kWithSection =
      kHeadPooledTransform | kHeadTokenTransform | kHeadLmActivation | kHeadVector;
  walk.require(found_heads == (header.task_heads & kWithSection), EMBERT_STATUS_BLOB_SECTION);
}

}  // namespace embert
