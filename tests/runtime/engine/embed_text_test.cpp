// SPDX-License-Identifier: Apache-2.0
// Text to vector and text to labels: the bits of the calls that take ids, in the same arena.
#include <string_view>

#include "converter/export/write_tokenizer_section.hpp"
#include "embert/embert_tasks.h"
#include "embert/embert_tokenizer.h"
#include "tests/runtime/engine/guarded_engine.hpp"
#include "tests/support/small_tokenizer.hpp"

namespace embert::test {
namespace {

SyntheticModel with(std::uint32_t flags, std::uint32_t heads) {
  SyntheticModel shape;
  shape.flags = flags;
  shape.heads = heads;
  return shape;
}

AlignedBytes blob_of(const SyntheticModel& shape) {
  return AlignedBytes(make_synthetic_blob(shape, convert::write_tokenizer_section(small_spec())));
}

embert_text text_of(std::string_view text) {
  return {.text = text.data(), .text_bytes = text.size()};
}

std::vector<embert_text> texts() {
  static const std::string kLong(4000, 'h'), kWords = [] {
    std::string words;
    for (int i = 0; i < 500; ++i) words += "hello ";
    return words;
  }();
  static const std::string kAnyBytes = {'h', '\0', '\xff', '\xc3', ' ', '\x80', 'e'};
  std::vector<embert_text> all = {text_of("hello"), text_of(""), text_of(kLong), text_of(kWords),
                                  text_of(kAnyBytes)};
  embert_text pair = text_of("hello hello");
  pair.pair = kWords.data();
  pair.pair_bytes = kWords.size();
  all.push_back(pair);
  return all;
}

/// The text's tokens as the calls with ids take them.
struct Tokenized {
  std::vector<std::int32_t> ids, type_ids;
  std::uint32_t length = 0;

  Tokenized(const embert_model& model, const embert_text& text, std::uint32_t max_tokens)
      : ids(max_tokens), type_ids(max_tokens) {
    embert_tokenize_options options = embert_tokenize_options_default(&model);
    options.max_tokens = static_cast<std::int32_t>(max_tokens);
    embert_tokens tokens = {.size = sizeof(tokens),
                            .capacity = max_tokens,
                            .ids = ids.data(),
                            .type_ids = type_ids.data()};
    EXPECT_EQ(embert_tokenize(&model, &text, &options, &tokens), EMBERT_STATUS_OK);
    length = static_cast<std::uint32_t>(tokens.length);
  }
  embert_input input() const {
    return {.size = sizeof(embert_input),
            .ids = ids.data(),
            .lengths = &length,
            .batch = 1,
            .type_ids = type_ids.data()};
  }
};

class Text : public testing::TestWithParam<std::uint32_t> {};

TEST_P(Text, VectorsAreThoseOfItsTokens) {
  const AlignedBytes blob = blob_of(with(GetParam(), 0));
  for (const Way way : all_ways()) {
    for (const std::uint32_t max_tokens : {4u, 16u}) {
      const GuardedEngine engine(blob, way, 1, max_tokens);
      for (const embert_text& text : texts()) {
        const Tokenized tokens(engine.model(), text, max_tokens);
        const embert_input input = tokens.input();
        const std::size_t size = embert_hidden_size(&engine.model());
        std::vector<std::int16_t> expected(size), vector(size);
        embert_scale expected_scale = {}, scale = {};
        if ((GetParam() & kStackCausal) != 0) embert_cache_clear(engine);
        ASSERT_EQ(
            embert_embed(engine, &input, EMBERT_POOLING_MODEL, expected.data(), &expected_scale),
            EMBERT_STATUS_OK);
        ASSERT_EQ(embert_embed_text(engine, &text, vector.data(), &scale), EMBERT_STATUS_OK);
        EXPECT_EQ(vector, expected);
        EXPECT_EQ(scale.float_bits, expected_scale.float_bits);
        ASSERT_EQ(embert_embed_text(engine, &text, vector.data(), nullptr), EMBERT_STATUS_OK);
        EXPECT_EQ(vector, expected);
      }
    }
  }
}

TEST_P(Text, LabelsAreThoseOfItsTokens) {
  SyntheticModel shape = with(GetParam(), kHeadPooler | kHeadClassifier);
  const AlignedBytes blob = blob_of(shape);
  for (const Way way : all_ways()) {
    const GuardedEngine engine(blob, way, 1, 16);
    const std::uint32_t n = embert_num_labels(&engine.model());
    ASSERT_GE(n, 2u);
    for (const embert_text& text : texts()) {
      const Tokenized tokens(engine.model(), text, 16);
      const embert_input input = tokens.input();
      std::vector<std::int32_t> logits(n);
      embert_logits row = {.values = logits.data(), .count = n};
      if ((GetParam() & kStackCausal) != 0) embert_cache_clear(engine);
      ASSERT_EQ(embert_classify(engine, &input, logits.data(), &row.scale), EMBERT_STATUS_OK);
      std::vector<embert_label_score> expected(n), found(n);
      embert_labels expected_list = {.items = expected.data(), .capacity = n};
      ASSERT_EQ(embert_rank_labels(&row, EMBERT_SCORE_SOFTMAX, 0, &expected_list),
                EMBERT_STATUS_OK);
      for (const std::size_t capacity : {std::size_t{1}, std::size_t{n}}) {
        embert_labels list = {.items = found.data(), .capacity = capacity};
        ASSERT_EQ(embert_classify_text(engine, &text, &list), EMBERT_STATUS_OK);
        EXPECT_EQ(list.count, capacity);
        EXPECT_EQ(list.scale.float_bits, row.scale.float_bits);
        for (std::size_t i = 0; i < list.count; ++i) {
          EXPECT_EQ(found[i].label, expected[i].label);
          EXPECT_EQ(found[i].logit, expected[i].logit);
          EXPECT_EQ(found[i].score, expected[i].score);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Stacks, Text,
                         testing::Values(0u, std::uint32_t{kStackPreNorm},
                                         std::uint32_t{kStackCausal},
                                         std::uint32_t{kStackCausal} | kStackPreNorm));

TEST(TextRefuses, WithAStatusEach) {
  const AlignedBytes blob = blob_of(with(0, kHeadPooler | kHeadClassifier));
  const GuardedEngine engine(blob, all_ways()[0], 1, 16), one(blob, all_ways()[0], 1, 1);
  const embert_text text = text_of("hello");
  const embert_text null_text = {.text = nullptr, .text_bytes = 3};
  std::vector<std::int16_t> vector(embert_hidden_size(&engine.model()));
  embert_label_score best;
  embert_labels list = {.items = &best, .capacity = 1};
  embert_labels no_items = {.items = nullptr, .capacity = 1}, no_room = {.items = &best};
  EXPECT_EQ(embert_embed_text(nullptr, &text, vector.data(), nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_embed_text(engine, nullptr, vector.data(), nullptr),
            EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_embed_text(engine, &text, nullptr, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_embed_text(engine, &null_text, vector.data(), nullptr),
            EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_embed_text(one, &text, vector.data(), nullptr), EMBERT_STATUS_TOO_MANY_TOKENS);
  EXPECT_EQ(embert_classify_text(nullptr, &text, &list), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_classify_text(engine, nullptr, &list), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_classify_text(engine, &text, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_classify_text(engine, &text, &no_items), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_classify_text(engine, &text, &no_room), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(embert_classify_text(one, &text, &list), EMBERT_STATUS_TOO_MANY_TOKENS);
  EXPECT_EQ(embert_num_labels(nullptr), 0u);
  EXPECT_EQ(embert_hidden_size(nullptr), 0u);

  const AlignedBytes plain(make_synthetic_blob(with(0, kHeadPooler | kHeadClassifier)));
  const GuardedEngine no_tokenizer(plain, all_ways()[0], 1, 16);
  EXPECT_EQ(embert_embed_text(no_tokenizer, &text, vector.data(), nullptr),
            EMBERT_STATUS_NO_TOKENIZER);
  EXPECT_EQ(embert_classify_text(no_tokenizer, &text, &list), EMBERT_STATUS_NO_TOKENIZER);
  const AlignedBytes headless = blob_of(with(0, 0));
  const GuardedEngine no_classifier(headless, all_ways()[0], 1, 16);
  EXPECT_EQ(embert_classify_text(no_classifier, &text, &list), EMBERT_STATUS_NO_CLASSIFIER);
}

}  // namespace
}  // namespace embert::test
