// SPDX-License-Identifier: Apache-2.0
// Hostile blobs of a stack with the options that ALBERT brought: an embedding projection and layers
// that share sections.
#include "embert/embert_inspect.h"
#include "embert/embert_lm.h"
#include "tests/runtime/model/blob_fields.hpp"
#include "tests/support/system/isa_masks.hpp"

namespace embert::test {
namespace {

constexpr std::uint32_t kAlbertHidden = 20, kAlbertEmbeddings = 12, kAlbertVocab = 14,
                        kAlbertLayers = 3;

// Layer 0 reads the projection. Layer 1 has its sections, and the input norm that layer 2 has too.
SyntheticModel albert() {
  SyntheticModel model;
  model.hidden_size = kAlbertHidden;
  model.num_layers = kAlbertLayers;
  model.num_heads = 2;
  model.head_size = 10;
  model.intermediate_size = 24;
  model.vocab_size = kAlbertVocab;
  model.max_positions = 8;
  model.flags = kStackEmbeddingProjection | kStackSharedLayers;
  model.embedding_size = kAlbertEmbeddings;
  model.shared = {{0, 0}, {0, 1}, {0, 1}};
  model.heads = kHeadPooler | kHeadClassifier | kHeadLm | kHeadLmTransform;
  return model;
}

std::string status_of(const SyntheticModel& shape) {
  const AlignedBytes blob(make_synthetic_blob(shape));
  embert_model model;
  return embert_status_name(embert_model_open(blob.data(), blob.size(), EMBERT_ISA_SCALAR, &model));
}

class AlbertOptions : public BlobFields {
 protected:
  AlbertOptions() : BlobFields(albert()) {}
  void bad_section(auto& field, auto value, const char* what) {
    expect(field, value, EMBERT_STATUS_BLOB_SECTION, what);
  }
};

TEST_F(AlbertOptions, AreAccepted) {
  EXPECT_EQ(open(false), EMBERT_STATUS_OK);
  SyntheticModel alone = albert();
  alone.flags = kStackEmbeddingProjection;
  alone.shared = {};
  EXPECT_EQ(status_of(alone), "EMBERT_STATUS_OK");
  SyntheticModel groups = albert();
  groups.num_layers = 4;
  groups.shared = {{0, 0}, {1, 1}, {0, 2}, {1, 1}};
  EXPECT_EQ(status_of(groups), "EMBERT_STATUS_OK");
}

TEST(EmbeddingSize, IsThatOfTheWords) {
  const auto size_of = [](std::uint32_t flags) {
    SyntheticModel shape;  // hidden_size 64, embedding_size 12, word_size 20
    shape.flags = flags;
    const AlignedBytes blob(make_synthetic_blob(shape));
    embert_model model;
    EXPECT_EQ(embert_model_open(blob.data(), blob.size(), EMBERT_ISA_SCALAR, &model),
              EMBERT_STATUS_OK);
    embert_model_info info = {.size = sizeof(info)};
    EXPECT_EQ(embert_model_get_info(&model, &info), EMBERT_STATUS_OK);
    return info.embedding_size;
  };
  EXPECT_EQ(size_of(0), 64u);
  EXPECT_EQ(size_of(kStackEmbeddingProjection), 12u);
  EXPECT_EQ(size_of(kStackWordProjection), 20u);
}

TEST_F(AlbertOptions, FlagsAndSectionsGoTogether) {
  BlobStack& stack = header().stacks[0];
  // Word embeddings then have another size, and layers no records, which the validator sees first.
  bad_section(stack.flags, kStackSharedLayers, "a projection without its flag");
  bad_value(stack.flags, kStackEmbeddingProjection, "shared layers without their flag");
  SyntheticModel plain = albert();
  plain.flags = 0;
  plain.shared = {};
  plain.optional = {{kSectionSharedLayers, std::vector<std::uint8_t>(3 * sizeof(BlobSharedLayer))}};
  EXPECT_EQ(status_of(plain), "EMBERT_STATUS_BLOB_SECTION");
  for (const std::uint32_t kind : {kSectionEmbeddingProjection, kSectionSharedLayers}) {
    BlobSection& s = section(kind);
    bad_section(s.kind, 279, "a flag without its section");
    bad_section(s.stack, 1, "stack");
    bad_section(s.layer, 1, "layer");
    bad_section(s.offset, s.offset + 64, "offset");
    bad_section(s.bytes, s.bytes + 4, "bytes");
    bad_section(s.bytes, s.bytes - 4, "bytes");
    bad_section(s.bytes, 0, "bytes");
  }
  // Tables and the language model's head have rows of the embeddings' width.
  for (const std::uint32_t kind : {kSectionWordEmbeddings, kSectionPositions, kSectionSegments,
                                   kSectionLmTransform, kSectionLmNorm}) {
    bad_section(section(kind).bytes, section(kind).bytes + 4, "bytes");
  }
  bad_section(section(kSectionQkv, 1).bytes, 4, "a section of a layer that uses another's");
  bad_section(section(kSectionInputNorm, 2).bytes, 8 * kAlbertHidden, "an input norm too many");
  const std::uint32_t heads = kHeadLm;
  expect(header().task_heads, heads, EMBERT_STATUS_BLOB_HEADER,
         "a language model on a projection without transform");
}

TEST_F(AlbertOptions, ProjectionIsChecked) {
  auto& record = *contents<BlobEmbeddingProjection>(kSectionEmbeddingProjection);
  bad_value(record.embedding_size, 0u, "embedding_size");
  bad_value(record.embedding_size, 4097u, "embedding_size");
  bad_value(record.embedding_size, UINT32_MAX, "embedding_size");
  bad_section(record.embedding_size, kAlbertEmbeddings + 1, "embedding_size");
  bad_value(record.reserved, 1u, "reserved");
  expect_norm_record(record.norm);
  bad_value(record.norm.epsilon_n2, 0, "epsilon_n2");
  bad_value(record.norm.shift, 0, "no norm");
  expect_shifts(record.dense.shifts);
  bad_value(record.dense.join_shift, -1, "join_shift");
  bad_value(record.dense.join_shift, 9, "join_shift");
  bad_value(record.dense.reserved, 1u, "reserved");
  for (std::uint8_t& byte : record.padding) bad_value(byte, 1, "padding");
  auto* weights = reinterpret_cast<std::int8_t*>(&record + 1);
  expect_dense(weights, kAlbertHidden, kAlbertEmbeddings);
  expect_norm(behind_weights(weights, kAlbertHidden, kAlbertEmbeddings, 3), kAlbertEmbeddings);
}

TEST_F(AlbertOptions, SharedLayersAreChecked) {
  auto* shared = contents<BlobSharedLayer>(kSectionSharedLayers);
  bad_value(shared[0].layer, 1u, "a later layer");
  bad_value(shared[0].input_norm, 1u, "the norm of a later layer");
  bad_value(shared[1].layer, 2u, "a later layer");
  bad_value(shared[2].layer, 1u, "a layer that uses another's sections");
  bad_value(shared[2].layer, 3u, "no layer");
  bad_value(shared[2].layer, UINT32_MAX, "no layer");
  bad_value(shared[2].input_norm, 3u, "no layer");
  bad_value(shared[2].input_norm, UINT32_MAX, "no layer");
  bad_value(shared[2].input_norm, 0u, "a layer without input norm");
  bad_value(shared[2].input_norm, 2u, "its own norm, which is missing");
  shared[1].input_norm = 0;
  bad_value(shared[2].input_norm, 1u, "a layer that uses another's norm");
  shared[1].input_norm = 1;

  BlobLayer* records = contents<BlobLayer>(kSectionLayers);
  for (const std::uint32_t layer : {1u, 2u}) {
    bad_value(records[layer].num_heads, 2u, "a field of a layer that uses another's record");
    bad_value(records[layer].reserved, 1u, "a field of a layer that uses another's record");
  }
  expect_norm_record(records[1].input_norm);
  bad_value(records[1].input_norm.shift, 0, "the norm that two layers use is missing");
  bad_value(records[2].input_norm.shift, 17, "a norm of a layer that uses another's");
  expect_norm(contents<std::int32_t>(kSectionInputNorm, 1), kAlbertHidden);
}

/// Hidden states of all layers and the language model's logits.
std::vector<std::int32_t> answers(const AlignedBytes& blob, std::uint32_t isa_mask) {
  const embert_model model = open_model(blob, isa_mask);
  const embert_options options = embert_options_default(&model);
  AlignedBytes arena(arena_bytes(model, options));
  embert_engine* engine = nullptr;
  EXPECT_EQ(embert_engine_init(&model, &options, arena.data(), arena.size(), &engine),
            EMBERT_STATUS_OK);
  const std::int32_t ids[] = {4, 1, 5, 13, 0};
  const std::uint32_t lengths[] = {5};
  const embert_input input = make_input(ids, nullptr, lengths, 1);
  std::vector<std::int16_t> states((kAlbertLayers + 1) * 5 * kAlbertHidden);
  std::vector<embert_scale> scales(kAlbertLayers + 1);
  std::vector<std::int32_t> logits(kAlbertVocab);
  embert_output output = {.size = sizeof(output)};
  output.hidden_states = states.data();
  output.hidden_state_scales = scales.data();
  EXPECT_EQ(embert_run(engine, &input, &output), EMBERT_STATUS_OK);
  EXPECT_EQ(embert_lm_logits(engine, 2, logits.data(), nullptr), EMBERT_STATUS_OK);
  logits.insert(logits.end(), states.begin(), states.end());
  return logits;
}

TEST_F(AlbertOptions, GiveTheSameBitsWithAllKernels) {
  const std::vector<std::int32_t> expected = answers(blob_, EMBERT_ISA_SCALAR);
  for (const std::uint32_t mask : isa_masks()) EXPECT_EQ(answers(blob_, mask), expected) << mask;
}

}  // namespace
}  // namespace embert::test
