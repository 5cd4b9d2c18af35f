// SPDX-License-Identifier: Apache-2.0
// Hostile blobs of a model with everything in it: two stacks, cross-attention, relative positions,
// every task head. The rules of plain encoders are in validator_test.cpp.
#include <cstring>
#include <iterator>
#include <random>

#include "embert/embert_inspect.h"
#include "embert/embert_lm.h"
#include "tests/runtime/model/blob_fields.hpp"

namespace embert::test {
namespace {

SyntheticModel everything() {
  SyntheticModel model = small_model();
  model.flags = kStackCausal | kStackCrossAttention | kStackPreNorm;
  model.position_kind = kPositionRelativeKeyQuery;
  model.cross_hidden_size = 16;
  // Without the pooler, and without a section of its own making.
  model.heads = kHeadAll & ~std::uint32_t{kHeadPooledAsIs | kHeadVector};
  model.start_id = 1;
  model.end_id = 2;
  SyntheticModel encoder = model;
  encoder.hidden_size = 12;
  encoder.num_layers = 1;
  encoder.num_heads = 3;
  encoder.head_size = 4;
  encoder.intermediate_size = 10;
  encoder.vocab_size = 9;
  encoder.flags = 0;
  encoder.position_kind = kPositionRelativeKey;
  model.encoder = {encoder};
  return model;
}

class ModelCheckFamily : public BlobFields {
 protected:
  ModelCheckFamily() : BlobFields(everything()) {}
  void bad_header(auto& field, auto value, const char* what) {
    expect(field, value, EMBERT_STATUS_BLOB_HEADER, what);
  }
};

TEST_F(ModelCheckFamily, AcceptsTheBlobItself) { EXPECT_EQ(open(false), EMBERT_STATUS_OK); }

TEST_F(ModelCheckFamily, RefusesHeaderFieldsOutOfRange) {
  BlobHeader& h = header();
  BlobStack &encoder = h.stacks[0], &decoder = h.stacks[1];
  bad_header(h.num_stacks, 1u, "num_stacks");
  bad_header(encoder.flags, kStackCausal, "a causal encoder");
  bad_header(encoder.hidden_size, 0u, "hidden_size of the encoder");
  bad_header(encoder.position_kind, 3u, "position_kind of the encoder");
  bad_header(decoder.flags, kStackCausal, "a decoder that does not attend the encoder");
  bad_header(decoder.flags, kStackCrossAttention, "cross-attention without cache");
  bad_header(decoder.cross_hidden_size, 0u, "cross_hidden_size");
  bad_header(decoder.cross_hidden_size, 4097u, "cross_hidden_size");
  bad_header(h.task_heads, h.task_heads & ~std::uint32_t{kHeadProjection},
             "other widths, no projection");
  bad_header(h.task_heads, h.task_heads & ~std::uint32_t{kHeadPooler}, "classifier without pooler");
  bad_header(h.task_heads, h.task_heads & ~std::uint32_t{kHeadLm}, "rows without language model");
  bad_header(h.task_heads, h.task_heads | kHeadPooledAsIs, "a pooled vector of two kinds");
  bad_header(h.task_heads, h.task_heads | 2048u, "an unknown head");
  bad_header(h.token_task, 2u, "token_task");
  bad_header(h.token_task, kTaskAnswer, "an answer with three labels");
  bad_header(h.num_token_labels, 0u, "num_token_labels");
  bad_header(h.num_token_labels, 4097u, "num_token_labels");
  bad_header(h.start_id, 12u, "start_id");
  bad_header(h.end_id, 12u, "end_id");
  bad_header(h.lm_exponent, 4, "lm_exponent");
  bad_header(h.lm_exponent, 13, "lm_exponent");
  bad_header(h.lm_shift, -1, "lm_shift");
  bad_header(h.lm_shift, 41, "lm_shift");
  bad_header(h.lm_norm.epsilon_n2, 0, "lm_norm.epsilon_n2");
  bad_header(h.lm_norm.shift, 7, "lm_norm.shift");
  bad_header(h.lm_norm.shift, 39, "lm_norm.shift");
  for (std::uint32_t* scale :
       {&h.pooled_scale, &h.logits_scale, &h.token_logits_scale, &h.lm_logits_scale,
        &encoder.embedding_scale, &encoder.hidden_scale, &decoder.embedding_scale,
        &decoder.hidden_scale, &decoder.cross_scale}) {
    for (std::uint32_t bits : {0u, 1u, 0x80000000u, 0xBF800000u, 0x7F800000u, 0x7FC00000u}) {
      bad_header(*scale, bits, "scale");
    }
  }
  for (BlobDense16* dense :
       {&h.pooler, &h.classifier, &h.token_classifier, &h.lm_transform, &h.projection}) {
    bad_header(dense->join_shift, -1, "join_shift");
    bad_header(dense->join_shift, 9, "join_shift");
    bad_header(dense->shifts.right, 32, "right");
    bad_header(dense->shifts.left, 16, "left");
    bad_header(dense->reserved, 1u, "reserved");
  }
}

TEST_F(ModelCheckFamily, RefusesSectionsOutOfPlace) {
  const auto bad = [&](auto& field, auto value, const char* what) {
    expect(field, value, EMBERT_STATUS_BLOB_SECTION, what);
  };
  const auto check = [&](BlobSection& s) {
    bad(s.kind, s.kind + 1, "kind");
    bad(s.stack, s.stack ^ 1, "stack");
    bad(s.offset, s.offset + 64, "offset");
    bad(s.bytes, s.bytes + 4, "bytes");
    bad(s.bytes, s.bytes - 4, "bytes");
    bad(s.bytes, 0, "bytes");
  };
  for (std::uint32_t kind = kFirstLayerSection; kind < kSectionFinalNorm; ++kind) {
    for (std::uint32_t layer : {0u, 1u}) {
      if (kind != kSectionHiddenRescale) check(section(kind, layer, 1));  // none in pre-norm
    }
  }
  for (std::uint32_t kind :
       {kSectionTokenClassifier, kSectionLmTransform, kSectionLmNorm, kSectionLmRows,
        kSectionLmMultipliers, kSectionLmBias, kSectionProjection}) {
    check(section(kind));
  }
  BlobSection& unused = section(kSectionCrossQuery, 0, 0);
  bad(unused.bytes, 4, "cross-attention of an encoder");
}

TEST_F(ModelCheckFamily, RefusesValuesOutOfRange) {
  for (std::uint32_t layer : {0u, 1u}) {
    BlobLayer& l = contents<BlobLayer>(kSectionLayers, 0, 1)[layer];
    for (BlobShifts* s :
         {&l.query_relative, &l.key_relative, &l.cross.query, &l.cross.key, &l.cross.value,
          &l.cross.context, &l.cross.out, &l.self.query, &l.ffn_down}) {
      expect_shifts(*s);
    }
    for (BlobNorm* n : {&l.input_norm, &l.norm_after_attn, &l.norm_after_cross})
      expect_norm_record(*n);
    bad_value(l.input_norm.shift, 0, "a layer without its norm");
    bad_value(l.norm_after_attn.shift, 0, "a layer without its norm");
    bad_value(l.norm_after_cross.shift, 0, "a layer without its norm");
    bad_value(l.cross_join_shift, -1, "cross_join_shift");
    bad_value(l.cross_join_shift, 9, "cross_join_shift");

    auto* table = contents<std::int8_t>(kSectionRelativePositions, layer, 1);  // [N(15)] x [K(10)]
    bad_value(*table, -128, "distance");
    auto* sums = reinterpret_cast<std::int32_t*>(table + 16 * 12);
    bad_value(*sums, *sums + 1, "sum of distances");
    auto* ratios = contents<std::int32_t>(kSectionRelativeRatios, layer, 1);
    bad_value(ratios[0], -1, "ratio of queries");
    bad_value(ratios[2], -1, "ratio of keys");
    expect_dense(contents<std::int8_t>(kSectionCrossQuery, layer, 1), 32, 20);
    expect_dense(contents<std::int8_t>(kSectionCrossKeyValue, layer, 1), 64, 16);
    expect_scores(contents<std::uint32_t>(kSectionCrossScores, layer, 1), 2);
    bad_value(*contents<std::int32_t>(kSectionCrossContext, layer, 1), -1, "context multiplier");
    expect_residual_dense(contents<std::int8_t>(kSectionCrossOut, layer, 1), 20, 20);
    expect_norm(contents<std::int32_t>(kSectionNormAfterCross, layer, 1), 20);
  }
  auto* of_encoder = contents<std::int8_t>(kSectionRelativePositions, 0, 0);
  bad_value(*of_encoder, -128, "distance of the encoder");
  bad_value(contents<BlobLayer>(kSectionLayers, 0, 0)->cross_join_shift, 1,
            "cross-attention of an encoder");
  expect_dense(contents<std::int8_t>(kSectionTokenClassifier), 3, 20);
  expect_dense(contents<std::int8_t>(kSectionLmTransform), 20, 20);
  expect_dense(contents<std::int8_t>(kSectionProjection), 16, 12);
  expect_norm(contents<std::int32_t>(kSectionLmNorm), 20);
  bad_value(*contents<std::int8_t>(kSectionLmRows), -128, "row of a word");
  bad_value(*contents<std::int32_t>(kSectionLmMultipliers), -1, "word multiplier");
  bad_value(*contents<std::int32_t>(kSectionLmMultipliers), 16909321, "word multiplier");
  bad_value(*contents<std::int32_t>(kSectionLmBias), 1 << 30, "bias of a word");
  bad_value(*contents<std::int32_t>(kSectionLmBias), -(1 << 30), "bias of a word");
  bad_value(*contents<char>(kSectionTokenLabels), '\0', "one label name too many");
}

/// Statuses and results of all public functions on a blob, in an arena of exactly the size that
/// they ask for.
struct Answers {
  std::vector<std::int64_t> values;
  int refused = 0;

  bool operator==(const Answers&) const = default;
};

Answers answers_of(const AlignedBytes& blob, std::uint32_t isa_mask) {
  Answers answers;
  const auto note = [&](const auto* values, std::size_t count) {
    answers.values.insert(answers.values.end(), values, values + count);
  };
  const auto noted = [&](embert_status status) {
    answers.values.push_back(status);
    answers.refused += status == EMBERT_STATUS_OK ? 0 : 1;
    return status == EMBERT_STATUS_OK;
  };
  embert_model model;
  if (!noted(embert_model_open(blob.data(), blob.size(), isa_mask, &model))) return answers;
  embert_model_info info = {.size = sizeof(info)};
  embert_stack_info of_encoder = {.size = sizeof(of_encoder)};
  noted(embert_model_get_info(&model, &info));
  noted(embert_model_get_stack(&model, 0, &of_encoder));
  embert_options options = embert_options_default(&model);
  options.max_batch = 2;
  AlignedBytes arena(arena_bytes(model, options));
  embert_engine* engine = nullptr;
  if (!noted(embert_engine_init(&model, &options, arena.data(), arena.size(), &engine))) {
    return answers;
  }

  const std::int32_t ids[] = {0, 1, 2, 3, 4, 5};
  const std::uint8_t mask[] = {1, 0, 1, 1, 1, 1};
  const std::uint32_t four = std::min<std::uint32_t>(4, options.max_source_tokens),
                      three = std::min<std::uint32_t>(3, options.max_tokens), twos[] = {1, 1};
  const std::int16_t* hidden = nullptr;
  embert_output output = {.size = sizeof(output)};
  output.hidden = &hidden;
  embert_input input = make_input(ids, nullptr, &four, 1);
  input.key_mask = mask;
  if (noted(embert_encode_source(engine, &input, &output))) {
    note(hidden, std::size_t{four} * of_encoder.hidden_size);
  }
  input = make_input(ids, nullptr, &three, 1);
  input.query_mask = mask;
  std::vector<std::int16_t> pooled(info.hidden_size),
      states((info.num_layers + 1) * three * info.hidden_size);
  std::vector<std::int32_t> logits(info.num_labels), token_logits(three * info.num_token_labels);
  std::vector<std::uint16_t> attentions(info.num_layers * info.num_heads * three * three),
      cross(info.num_layers * info.num_heads * three * four);
  std::vector<embert_scale> scales(info.num_layers + 1);
  output.pooled = info.has_pooler != 0 ? pooled.data() : nullptr;
  output.logits = info.num_labels != 0 ? logits.data() : nullptr;
  output.token_logits = info.num_token_labels != 0 ? token_logits.data() : nullptr;
  output.hidden_states = states.data();
  output.hidden_state_scales = scales.data();
  output.attentions = attentions.data();
  output.cross_attentions = cross.data();
  if (noted(embert_run(engine, &input, &output))) {
    note(hidden, three * info.hidden_size);
    note(pooled.data(), pooled.size());
    note(states.data(), states.size());
    note(logits.data(), logits.size());
    note(token_logits.data(), token_logits.size());
    note(attentions.data(), attentions.size());
    note(cross.data(), cross.size());
  }
  const std::uint32_t parents[] = {0, 0};
  noted(embert_cache_reorder(engine, parents, 2));
  noted(embert_cache_truncate(engine, 1, embert_cache_length(engine, 1) / 2));
  input = make_input(ids, nullptr, twos, 2);
  if (noted(embert_last_hidden_state(engine, &input, &hidden, nullptr)))
    note(hidden, 2 * info.hidden_size);
  embert_candidate words[3] = {};
  embert_candidates best = {.items = words, .capacity = 3};
  if (noted(embert_lm_top(engine, 1, &best, nullptr, nullptr))) {
    for (std::size_t i = 0; i < best.count; ++i) note(&words[i].log2_score, 1);
  }
  for (std::uint32_t beams : {1u, 2u}) {
    std::uint64_t workspace[1024];
    std::int32_t made[8];
    embert_generation generation = {.size = sizeof(generation)};
    generation.workspace = workspace;
    generation.workspace_bytes = sizeof(workspace);
    generation.ids = made;
    generation.capacity = 8;
    embert_generate_options generate = embert_generate_options_default(&model);
    generate.max_new_tokens = 4;
    generate.beams = beams;
    if (noted(embert_generate(engine, &generate, &generation))) {
      note(made, generation.count);
      note(&generation.log2_score, 1);
    }
  }
  return answers;
}

TEST_F(ModelCheckFamily, RunsWithEverything) {
  const Answers answers = answers_of(blob_, EMBERT_ISA_SCALAR);
  EXPECT_EQ(answers.refused, 0);
  EXPECT_TRUE(answers == answers_of(blob_, embert_isa_detect()));
}

// Any byte string is refused, or safe to run with the same bits on every ISA: damage with a right
// checksum, of single bytes and of long runs of values at the ends of their ranges. The sanitizer
// build runs this, too.
TEST_F(ModelCheckFamily, RandomDamageIsRefusedOrSafe) {
  const std::vector<std::uint8_t> good(blob_.data(), blob_.data() + blob_.size());
  const std::size_t sections = header().section_count,
                    contents = sizeof(BlobHeader) + sections * sizeof(BlobSection);
  const std::uint32_t extremes[] = {0x7FFFFFFF, 0x80000001, 0x3FFFFFFF, 0xC0000001, 0x1FFFFFFF,
                                    0xE0000001, 0x0FFFFFFF, 0xF0000001, 16909320,   0x7FFF8000,
                                    0x80008000, 0x7F7F7F7F, 0x81818181, 1,          0};
  std::mt19937_64 random(20240612);
  int ran = 0;
  for (int round = 0; round < 3000; ++round) {
    AlignedBytes blob(good);
    const int changes = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < changes; ++i) {
      if (random() % 4 == 0) {
        blob.data()[random() % sizeof(BlobHeader)] = static_cast<std::uint8_t>(random());
      } else if (random() % 2 == 0) {
        blob.data()[contents + random() % (good.size() - contents)] =
            static_cast<std::uint8_t>(random());
      } else {
        const auto* table = reinterpret_cast<const BlobSection*>(blob.data() + sizeof(BlobHeader));
        const BlobSection& s = table[random() % sections];
        const std::uint32_t value = extremes[random() % std::size(extremes)];
        const std::uint64_t words = s.bytes / 4, from = words > 0 ? random() % words : 0,
                            to = random() % 2 == 0 ? words : (from + words + 1) / 2;
        for (std::uint64_t word = random() % 2 == 0 ? 0 : from; word < to; ++word) {
          std::memcpy(blob.data() + s.offset + 4 * word, &value, 4);
        }
      }
    }
    seal_blob(blob.data(), blob.size());
    const Answers answers = answers_of(blob, EMBERT_ISA_SCALAR);
    ran += answers.refused == 0 ? 1 : 0;
    ASSERT_TRUE(answers == answers_of(blob, embert_isa_detect())) << round;
  }
  EXPECT_GT(ran, 100);  // the test reaches the forward pass
}

}  // namespace
}  // namespace embert::test
