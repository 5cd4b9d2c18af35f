// SPDX-License-Identifier: Apache-2.0
// Text to vector and text to labels: the bits of the calls that take ids, in the same arena.
#include <string_view>

#include "converter/export/write_tokenizer_section.hpp"
#include "embert/embert_tasks.h"
#include "embert/embert_tokenizer.h"
#include "runtime/engine/arena_plan.hpp"
#include "tests/runtime/generation/decoder_models.hpp"
#include "tests/support/small_tokenizer.hpp"

namespace embert::test {
namespace {

AlignedBytes blob_of(const SyntheticModel& shape) {
  return AlignedBytes(make_synthetic_blob(shape, convert::write_tokenizer_section(small_spec())));
}

embert_text text_of(std::string_view text) {
  return {.text = text.data(), .text_bytes = text.size()};
}

embert_text pair_of(std::string_view text, std::string_view pair) {
  return {.text = text.data(),
          .text_bytes = text.size(),
          .pair = pair.data(),
          .pair_bytes = pair.size()};
}

/// Short, empty, one long word, many words, any bytes; pairs in which either text is the longer.
std::vector<embert_text> texts() {
  static const std::string kLong(4000, 'h'), kWords = [] {
    std::string words;
    for (int i = 0; i < 500; ++i) words += "hello ";
    return words;
  }();
  static const std::string kAnyBytes = {'h', '\0', '\xff', '\xc3', ' ', '\x80', 'e'};
  std::vector<embert_text> all = {text_of("hello"), text_of(""), text_of(kLong), text_of(kWords),
                                  text_of(kAnyBytes)};
  all.push_back(pair_of("hello hello", "cafe"));
  all.push_back(pair_of("hello hello", kWords));
  all.push_back(pair_of(kWords, "world !"));
  all.push_back(pair_of("", ""));
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

NamedModel named(std::string name, std::uint32_t flags = 0) {
  NamedModel model = {std::move(name), SyntheticModel()};
  model.shape.flags = flags;
  return model;
}

/// The family, each with pooler and classifier. The width of all attention heads decides how much
/// room a text has in the arena: `narrow` is the smallest model that there is.
std::vector<NamedModel> text_models() {
  std::vector<NamedModel> all = {named("post_norm"), named("pre_norm", kStackPreNorm),
                                 named("causal", kStackCausal),
                                 named("causal_pre_norm", kStackCausal | kStackPreNorm)};
  NamedModel narrow = named("narrow");
  narrow.shape.hidden_size = narrow.shape.num_heads = narrow.shape.head_size = 1;
  narrow.shape.intermediate_size = 1;
  all.push_back(narrow);
  NamedModel pruned = named("pruned");
  pruned.shape.pruned_heads = 3;
  all.push_back(pruned);
  NamedModel relative = named("relative_positions_max_pooling");
  relative.shape.position_kind = kPositionRelativeKeyQuery;
  relative.shape.pooling = kPoolingMax;
  relative.shape.normalize = 0;
  all.push_back(relative);
  NamedModel cross = named("cross_attention", kStackCausal | kStackCrossAttention);
  cross.shape.pooling = kPoolingCls;
  all.push_back(cross);
  NamedModel pair = cross;
  pair.name = "encoder_and_decoder";
  pair.shape.encoder = {SyntheticModel()};
  all.push_back(pair);
  for (NamedModel& model : all) model.shape.heads |= kHeadPooler | kHeadClassifier;
  return all;
}

class Text : public testing::TestWithParam<NamedModel> {
 protected:
  const NamedModel& model() const { return GetParam(); }

  /// The state in which a text finds a decoder in the calls with ids: its source, an empty cache.
  void begin(const GuardedEngine& engine) const {
    if ((model().shape.flags & kStackCausal) != 0) {
      ASSERT_EQ(embert_cache_clear(engine), EMBERT_STATUS_OK);
    }
  }
  void set_source(const GuardedEngine& engine) const {
    if (!model().shape.encoder.empty()) {
      Call call;
      call.ids = random_ids({7}, model().shape.encoder[0].vocab_size, 5);
      const CallInput input(call);
      ASSERT_EQ(embert_encode_source(engine, input.get(), nullptr), EMBERT_STATUS_OK);
    } else if (model().has_source()) {
      Source({7}, model().shape.hidden_size).set(engine);
    }
  }
};

TEST_P(Text, VectorsAreThoseOfItsTokens) {
  const AlignedBytes blob = blob_of(model().shape);
  for (const Way way : all_ways()) {
    for (const std::uint32_t max_tokens : {4u, 16u, 64u}) {
      const GuardedEngine engine(blob, way, max_tokens == 16 ? 3 : 1, max_tokens);
      set_source(engine);
      for (const embert_text& text : texts()) {
        const Tokenized tokens(engine.model(), text, max_tokens);
        const embert_input input = tokens.input();
        const std::size_t size = embert_hidden_size(&engine.model());
        std::vector<std::int16_t> expected(size), vector(size);
        embert_scale expected_scale = {}, scale = {};
        begin(engine);
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

/// What a classifier's logits mean, how many there are, and the scores that embert.h promises.
struct Scores {
  std::uint32_t problem, num_labels;
  embert_score_function function;
};
constexpr Scores kScores[] = {{kProblemSingleLabel, 5, EMBERT_SCORE_SOFTMAX},
                              {kProblemSingleLabel, 1, EMBERT_SCORE_SIGMOID},
                              {kProblemMultiLabel, 100, EMBERT_SCORE_SIGMOID},
                              {kProblemRegression, 1, EMBERT_SCORE_NONE},
                              {kProblemRegression, 2, EMBERT_SCORE_NONE}};

TEST_P(Text, LabelsAreThoseOfItsTokens) {
  for (const auto& [problem, n, function] : kScores) {
    SyntheticModel shape = model().shape;
    shape.num_labels = n;
    AlignedBytes blob = blob_of(shape);
    reinterpret_cast<BlobHeader*>(blob.data())->problem = problem;
    seal_blob(blob.data(), blob.size());
    for (const Way way : all_ways()) {
      const GuardedEngine engine(blob, way, way.threads, 16);
      set_source(engine);
      ASSERT_EQ(embert_num_labels(&engine.model()), n);
      for (const embert_text& text : texts()) {
        const Tokenized tokens(engine.model(), text, 16);
        const embert_input input = tokens.input();
        std::vector<std::int32_t> logits(n);
        embert_logits row = {.values = logits.data(), .count = n};
        begin(engine);
        ASSERT_EQ(embert_classify(engine, &input, logits.data(), &row.scale), EMBERT_STATUS_OK);
        std::vector<embert_label_score> expected(n), found(n + 1);
        embert_labels expected_list = {.items = expected.data(), .capacity = n};
        ASSERT_EQ(embert_rank_labels(&row, function, 0, &expected_list), EMBERT_STATUS_OK);
        for (const std::size_t capacity : {std::size_t{1}, std::size_t{n}, std::size_t{n} + 1}) {
          embert_labels list = {.items = found.data(), .capacity = capacity};
          ASSERT_EQ(embert_classify_text(engine, &text, &list), EMBERT_STATUS_OK);
          EXPECT_EQ(list.count, std::min<std::size_t>(capacity, n));
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
}

/// Ids and segments lie where the context will be, and reach into nothing behind it.
TEST_P(Text, FitsWhereTheContextWillBe) {
  const AlignedBytes blob = blob_of(model().shape);
  const BlobHeader& header = *reinterpret_cast<const BlobHeader*>(blob.data());
  const embert_model opened = open_model(blob);
  for (const std::uint32_t max_tokens : {1u, 5u, 16u, 33u, 64u}) {
    embert_options options = embert_options_default(&opened);
    options.max_tokens = max_tokens;
    const StackPlan plan = plan_arena(model_of(opened), options).stacks[header.num_stacks - 1];
    EXPECT_GE(plan.scratch - plan.shared, max_tokens * 2 * sizeof(std::int32_t));
  }
}

INSTANTIATE_TEST_SUITE_P(Family, Text, testing::ValuesIn(text_models()),
                         [](const auto& model) { return model.param.name; });

/// Both calls with an engine; a vector and the best label.
struct BothCalls {
  const GuardedEngine& engine;

  embert_status embed(const embert_text& text) const {
    std::vector<std::int16_t> vector(embert_hidden_size(&engine.model()));
    return embert_embed_text(engine, &text, vector.data(), nullptr);
  }
  embert_status classify(const embert_text& text) const {
    embert_label_score best;
    embert_labels list = {.items = &best, .capacity = 1};
    return embert_classify_text(engine, &text, &list);
  }
  void give(const embert_text& text, embert_status status) const {
    EXPECT_EQ(embed(text), status);
    EXPECT_EQ(classify(text), status);
  }
};

TEST(TextRefuses, NullArgumentsAndNoRoomForLabels) {
  const AlignedBytes blob = blob_of({});
  const GuardedEngine engine(blob, all_ways()[0], 1, 16);
  const embert_text text = text_of("hello");
  std::vector<std::int16_t> vector(embert_hidden_size(&engine.model()));
  embert_label_score best;
  embert_labels list = {.items = &best, .capacity = 1};
  embert_labels no_items = {.items = nullptr, .capacity = 1}, no_room = {.items = &best};
  EXPECT_EQ(embert_embed_text(nullptr, &text, vector.data(), nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_embed_text(engine, nullptr, vector.data(), nullptr),
            EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_embed_text(engine, &text, nullptr, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_classify_text(nullptr, &text, &list), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_classify_text(engine, nullptr, &list), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_classify_text(engine, &text, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_classify_text(engine, &text, &no_items), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_classify_text(engine, &text, &no_room), EMBERT_STATUS_INVALID_OPTION);
  BothCalls{engine}.give({.text = nullptr, .text_bytes = 3}, EMBERT_STATUS_NULL_ARGUMENT);
  BothCalls{engine}.give({.text = "a", .text_bytes = 1, .pair = nullptr, .pair_bytes = 3},
                         EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_num_labels(nullptr), 0u);
  EXPECT_EQ(embert_hidden_size(nullptr), 0u);
}

TEST(TextRefuses, WhatTheModelDoesNotHave) {
  const embert_text text = text_of("hello");
  const AlignedBytes plain(make_synthetic_blob({}));
  BothCalls{GuardedEngine(plain, all_ways()[0])}.give(text, EMBERT_STATUS_NO_TOKENIZER);

  SyntheticModel headless;
  headless.heads = 0;
  const AlignedBytes no_heads = blob_of(headless);
  const GuardedEngine no_classifier(no_heads, all_ways()[0]);
  EXPECT_EQ(BothCalls{no_classifier}.embed(text), EMBERT_STATUS_OK);
  EXPECT_EQ(BothCalls{no_classifier}.classify(text), EMBERT_STATUS_NO_CLASSIFIER);

  SyntheticModel one_segment;
  one_segment.type_vocab_size = 1;
  const AlignedBytes one_type = blob_of(one_segment);
  const GuardedEngine no_pairs(one_type, all_ways()[0]);
  BothCalls{no_pairs}.give(text, EMBERT_STATUS_OK);
  BothCalls{no_pairs}.give(pair_of("hello", "world"), EMBERT_STATUS_TYPE_OUT_OF_RANGE);

  SyntheticModel cross;
  cross.flags = kStackCausal | kStackCrossAttention;
  const AlignedBytes cross_blob = blob_of(cross);
  const GuardedEngine without_source(cross_blob, all_ways()[0]);
  BothCalls{without_source}.give(text, EMBERT_STATUS_NO_SOURCE);
}

TEST(TextRefuses, TextsThatDoNotFit) {
  const AlignedBytes blob = blob_of({});
  const GuardedEngine one(blob, all_ways()[0], 1, 1), two(blob, all_ways()[0], 1, 2);
  BothCalls{one}.give(text_of("hello"), EMBERT_STATUS_TOO_MANY_TOKENS);
  BothCalls{two}.give(text_of("hello"), EMBERT_STATUS_OK);
  BothCalls{two}.give(pair_of("hello", "hello"), EMBERT_STATUS_TOO_MANY_TOKENS);
  // Its bytes are not read.
  BothCalls{two}.give({.text = "a", .text_bytes = std::size_t{1} << 30},
                      EMBERT_STATUS_TOO_MANY_TOKENS);
}

TEST(TextRefuses, NoTokenAtAll) {
  using Kind = convert::TemplatePieceSpec::Kind;
  convert::TokenizerSpec spec = small_spec();
  spec.single = {{Kind::kFirstText, 0, 0}};
  spec.pair = {{Kind::kFirstText, 0, 0}, {Kind::kSecondText, 0, 1}};
  const AlignedBytes blob(make_synthetic_blob({}, convert::write_tokenizer_section(spec)));
  const GuardedEngine engine(blob, all_ways()[0]);
  BothCalls{engine}.give(text_of("hello"), EMBERT_STATUS_OK);
  BothCalls{engine}.give(text_of(""), EMBERT_STATUS_EMPTY_INPUT);
  BothCalls{engine}.give(text_of(" \n"), EMBERT_STATUS_EMPTY_INPUT);
  BothCalls{engine}.give(pair_of("", ""), EMBERT_STATUS_EMPTY_INPUT);
}

}  // namespace
}  // namespace embert::test
