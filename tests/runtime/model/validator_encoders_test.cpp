// SPDX-License-Identifier: Apache-2.0
// Properties that other encoders than BERT brought: positions counted from a padding id, score
// biases, and task heads of other kinds. Each must have its section if and only if its bit is set.
#include "embert/embert_inspect.h"
#include "embert/embert_lm.h"
#include "tests/runtime/engine/engine_session.hpp"
#include "tests/runtime/model/blob_fields.hpp"
#include "tests/support/system/isa_masks.hpp"

namespace embert::test {
namespace {

constexpr std::uint32_t kHidden = 20, kVocab = 12, kPositions = 8, kHeads = 2;

SyntheticModel encoder() {
  SyntheticModel model;
  model.hidden_size = kHidden;
  model.num_heads = kHeads;
  model.head_size = 10;
  model.intermediate_size = 24;
  model.vocab_size = kVocab;
  model.max_positions = kPositions;
  model.flags = kStackPaddingPosition | kStackScoreBias;
  model.heads = kHeadPooler | kHeadClassifier | kHeadTokenClassifier | kHeadLm | kHeadLmTransform |
                kHeadPooledTransform | kHeadTokenTransform | kHeadLmActivation;
  return model;
}

class EncoderFields : public BlobFields {
 protected:
  EncoderFields() : BlobFields(encoder()) {}
  void bad_header(auto& field, auto value, const char* what) {
    expect(field, value, EMBERT_STATUS_BLOB_HEADER, what);
  }
  void bad_section(auto& field, auto value, const char* what) {
    expect(field, value, EMBERT_STATUS_BLOB_SECTION, what);
  }
};

TEST_F(EncoderFields, AcceptsTheBlobItself) { EXPECT_EQ(open(false), EMBERT_STATUS_OK); }

TEST_F(EncoderFields, RefusesFlagsThatDoNotGoTogether) {
  BlobHeader& h = header();
  BlobStack& stack = h.stacks[0];
  bad_header(stack.flags, stack.flags | kStackCausal, "a causal stack with counted positions");
  bad_header(stack.flags, stack.flags | kStackRotary, "rotary positions beside counted ones");
  bad_header(stack.position_kind, kPositionRelativeKey, "relative positions beside a bias");
  bad_header(h.task_heads, h.task_heads | kHeadPooledAsIs, "a pooled vector of two kinds");
  bad_header(h.task_heads, h.task_heads & ~std::uint32_t{kHeadLmTransform},
             "an activation without transform");
  const std::uint32_t all = h.task_heads;
  h.task_heads &= ~std::uint32_t{kHeadClassifier};
  bad_header(h.task_heads, h.task_heads & ~std::uint32_t{kHeadPooler}, "no pooler");
  h.task_heads = all;
  bad_header(h.num_token_labels, 0u, "a transform without token classifier");
}

TEST_F(EncoderFields, DemandsTheSectionsOfItsBitsAndNoOthers) {
  BlobHeader& h = header();
  for (const std::uint32_t bit : {kHeadPooledTransform, kHeadTokenTransform, kHeadLmActivation}) {
    bad_section(h.task_heads, h.task_heads & ~bit, "a section without its bit");
  }
  bad_section(h.stacks[0].flags, h.stacks[0].flags & ~std::uint32_t{kStackPaddingPosition},
              "a padding position without its flag");
  bad_section(h.stacks[0].flags, h.stacks[0].flags & ~std::uint32_t{kStackScoreBias},
              "a score bias without its flag");
  for (const std::uint32_t kind :
       {kSectionPaddingPosition, kSectionScoreBias, kSectionPooledTransform, kSectionTokenTransform,
        kSectionLmActivation}) {
    BlobSection& s = section(kind);
    bad_section(s.stack, 1, "stack");
    bad_section(s.layer, 1, "layer");
    bad_section(s.bytes, s.bytes + 4, "bytes");
    bad_section(s.bytes, s.bytes - 4, "bytes");
    bad_section(s.bytes, 0, "bytes");
  }
  bad_section(section(kSectionLmActivation).kind, 283, "an unknown kind in place of the last");
  for (const std::uint32_t without : {kSectionPositions, kSectionRelativeRatios}) {
    BlobSection& s = section(without);
    bad_section(s.bytes, s.bytes - 4, "bytes");
  }
}

TEST_F(EncoderFields, RefusesValuesOutOfRange) {
  auto& padding = *contents<BlobPaddingPosition>(kSectionPaddingPosition);
  bad_value(padding.padding_id, kVocab, "padding_id");
  bad_value(padding.padding_id, UINT32_MAX, "padding_id");
  bad_value(padding.reserved, 1u, "reserved");
  auto* bias = contents<std::int32_t>(kSectionScoreBias);
  const std::size_t last = kHeads * (2 * kPositions - 1) - 1;
  for (const std::size_t i : {std::size_t{0}, last}) {
    bad_value(bias[i], 1 << 21, "score bias");
    bad_value(bias[i], -(1 << 21), "score bias");
  }
  bad_value(*contents<std::int32_t>(kSectionRelativeRatios), -1, "ratio");

  for (const std::uint32_t kind : {kSectionPooledTransform, kSectionTokenTransform}) {
    auto& record = *contents<BlobHeadTransform>(kind);
    expect_norm_record(record.norm);
    bad_value(record.activation, 5u, "activation");
    bad_value(record.exponent, 4, "exponent");
    bad_value(record.exponent, 13, "exponent");
    bad_value(record.mean, 2u, "mean");
    for (std::uint32_t& reserved : record.reserved) bad_value(reserved, 1u, "reserved");
    // Without its record there is no room for a LayerNorm.
    const BlobNorm norm = record.norm;
    record.norm = {};
    EXPECT_EQ(open(), EMBERT_STATUS_BLOB_SECTION);
    record.norm = norm;
  }
  auto& pooled = *contents<BlobHeadTransform>(kSectionPooledTransform);
  bad_value(pooled.dense.join_shift, 1, "a second dense layer of the pooled vector");
  expect_norm(reinterpret_cast<std::int32_t*>(&pooled + 1), kHidden);
  auto& token = *contents<BlobHeadTransform>(kSectionTokenTransform);
  bad_value(token.mean, 1u, "the mean for each token");
  expect_shifts(token.dense.shifts);
  bad_value(token.dense.join_shift, 9, "join_shift");
  auto* weights = reinterpret_cast<std::int8_t*>(&token + 1);
  expect_dense(weights, kHidden, kHidden);
  expect_norm(behind_weights(weights, kHidden, kHidden, 3), kHidden);
  auto& activation = *contents<BlobLmActivation>(kSectionLmActivation);
  bad_value(activation.activation, 5u, "activation");
  bad_value(activation.reserved, 1u, "reserved");
}

/// Hidden states and logits of all heads with two texts of 3 and 5 tokens, padding ids among them.
std::vector<std::int32_t> answers(const AlignedBytes& blob, std::uint32_t isa_mask,
                                  std::uint32_t threads) {
  const embert_model model = open_model(blob, isa_mask);
  embert_options options = embert_options_default(&model);
  options.max_batch = 2;
  options.threads = threads;
  options.parallel_for = threads > 1 ? run_threads : nullptr;
  AlignedBytes arena(arena_bytes(model, options));
  embert_engine* engine = nullptr;
  EXPECT_EQ(embert_engine_init(&model, &options, arena.data(), arena.size(), &engine),
            EMBERT_STATUS_OK);
  const std::int32_t ids[] = {4, 1, 5, 1, 1, 6, 2, 11};
  const std::uint8_t mask[] = {1, 1, 0, 0, 1, 1, 1, 1};
  const std::uint32_t lengths[] = {3, 5};
  embert_input input = make_input(ids, nullptr, lengths, 2);
  input.key_mask = mask;
  const std::int16_t* hidden = nullptr;
  std::vector<std::int16_t> pooled(2 * kHidden);
  std::vector<std::int32_t> logits(2 * 5), token_logits(8 * 3), lm(kVocab);
  embert_output output = {.size = sizeof(output)};
  output.hidden = &hidden;
  output.pooled = pooled.data();
  output.logits = logits.data();
  output.token_logits = token_logits.data();
  EXPECT_EQ(embert_run(engine, &input, &output), EMBERT_STATUS_OK);
  std::vector<std::int32_t> all(hidden, hidden + 8 * kHidden);
  embert_scale scale = {};
  EXPECT_EQ(embert_lm_logits(engine, 2, lm.data(), &scale), EMBERT_STATUS_OK);
  for (const std::vector<std::int32_t>& part : {logits, token_logits, lm})
    all.insert(all.end(), part.begin(), part.end());
  all.insert(all.end(), pooled.begin(), pooled.end());
  // The pooled vector alone: with the mean of the tokens all of them are computed.
  std::vector<std::int16_t> alone(2 * kHidden);
  EXPECT_EQ(embert_pooler_output(engine, &input, alone.data(), &scale), EMBERT_STATUS_OK);
  EXPECT_EQ(alone, pooled);
  return all;
}

TEST_F(EncoderFields, GivesTheSameBitsWithAllKernelsAndThreads) {
  const std::vector<std::int32_t> expected = answers(blob_, EMBERT_ISA_SCALAR, 1);
  EXPECT_EQ(answers(blob_, EMBERT_ISA_SCALAR, 2), expected);
  for (const std::uint32_t mask : isa_masks()) {
    EXPECT_EQ(answers(blob_, mask, 2), expected) << mask;
  }
}

// A blob that the validator accepts is safe to run, whatever its bytes.
TEST_F(EncoderFields, RandomDamageIsRefusedOrSafe) {
  const std::vector<std::uint8_t> good(blob_.data(), blob_.data() + blob_.size());
  const auto first = static_cast<std::size_t>(section(kSectionPaddingPosition).offset);
  std::mt19937_64 random(20251122);
  int ran = 0;
  for (int round = 0; round < 600; ++round) {
    AlignedBytes blob(good);
    for (int i = 0; i < 2; ++i) {
      // In the optional sections, and in the bits of the header that ask for them.
      if (random() % 8 == 0) {
        reinterpret_cast<BlobHeader*>(blob.data())->task_heads ^= 1u << (random() % 12);
      } else {
        blob.data()[first + random() % (good.size() - first)] = static_cast<std::uint8_t>(random());
      }
    }
    seal_blob(blob.data(), blob.size());
    embert_model model;
    if (embert_model_open(blob.data(), blob.size(), EMBERT_ISA_SCALAR, &model) != EMBERT_STATUS_OK)
      continue;
    embert_model_info info = {.size = sizeof(info)};
    ASSERT_EQ(embert_model_get_info(&model, &info), EMBERT_STATUS_OK);
    if (info.has_pooler == 0 || info.has_lm == 0 || info.num_token_labels == 0) continue;
    ++ran;
    EXPECT_EQ(answers(blob, EMBERT_ISA_SCALAR, 1), answers(blob, embert_isa_detect(), 1));
  }
  EXPECT_GT(ran, 50);
}

}  // namespace
}  // namespace embert::test
