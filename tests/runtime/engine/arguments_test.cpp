// SPDX-License-Identifier: Apache-2.0
// Wrong arguments of callers, each with its status.
#include "tests/runtime/engine/engine_session.hpp"

#include <set>
#include <string>

#include "embert/embert_inspect.h"
#include "embert/embert_lm.h"
#include "embert/embert_run.h"
#include "embert/embert_tasks.h"
#include "embert/embert_tokenizer.h"

namespace embert::test {
namespace {

class Arguments : public testing::Test {
 protected:
  SyntheticModel shape_;
  AlignedBytes blob_ = AlignedBytes(make_synthetic_blob(shape_));
  embert_model model_ = open_model(blob_);
  embert_options options_ = embert_options_default(&model_);
  AlignedBytes arena_ = AlignedBytes(arena_bytes(model_, options_));
  embert_engine* engine_ = nullptr;

  void SetUp() override {
    ASSERT_EQ(embert_engine_init(&model_, &options_, arena_.data(), arena_.size(), &engine_),
              EMBERT_STATUS_OK);
  }
  embert_status with_options(void (*change)(embert_options&)) {
    embert_options options = options_;
    change(options);
    std::size_t bytes = 0;
    return embert_arena_bytes(&model_, &options, &bytes);
  }
  embert_status encode(const std::vector<std::int32_t>& ids,
                       const std::vector<std::uint32_t>& lengths,
                       const std::int32_t* types = nullptr) {
    const embert_input input = make_input(ids.data(), types, lengths.data(), lengths.size());
    const std::int16_t* hidden = nullptr;
    return embert_last_hidden_state(engine_, &input, &hidden, nullptr);
  }
};

TEST_F(Arguments, DefaultOptionsAreTheModels) {
  EXPECT_EQ(options_.max_tokens, 64u);
  EXPECT_EQ(options_.max_batch, 1u);
  EXPECT_EQ(options_.threads, 1u);
  EXPECT_EQ(embert_options_default(nullptr).max_tokens, 0u);
}

// A zeroed object: on a board without memory protection a null header is read silently.
TEST(UnopenedModel, HasNothing) {
  const embert_model model = {};
  embert_model_info info = {.size = sizeof(info)};
  EXPECT_EQ(embert_model_get_info(&model, &info), EMBERT_STATUS_INVALID_OPTION);
  embert_stack_info stack = {.size = sizeof(stack)};
  EXPECT_EQ(embert_model_get_stack(&model, 0, &stack), EMBERT_STATUS_INVALID_OPTION);
  embert_section section = {.size = sizeof(section)};
  EXPECT_EQ(embert_model_section(&model, 0, &section), EMBERT_STATUS_INVALID_OPTION);
  embert_options options = embert_options_default(&model);
  EXPECT_EQ(options.max_tokens, 0u);
  options.max_tokens = 1;
  std::size_t bytes = 0;
  EXPECT_EQ(embert_arena_bytes(&model, &options, &bytes), EMBERT_STATUS_INVALID_OPTION);
  AlignedBytes arena = AlignedBytes(std::vector<std::uint8_t>(64));
  embert_engine* engine = nullptr;
  EXPECT_EQ(embert_engine_init(&model, &options, arena.data(), arena.size(), &engine),
            EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(engine, nullptr);
  EXPECT_EQ(embert_vector_size(&model), 0u);
  EXPECT_EQ(embert_hidden_size(&model), 0u);
  EXPECT_EQ(embert_num_labels(&model), 0u);
  EXPECT_EQ(embert_model_label(&model, 0), nullptr);
  EXPECT_EQ(embert_model_token_label(&model, 0), nullptr);
  EXPECT_EQ(embert_model_prompt_name(&model, 0), nullptr);
  EXPECT_EQ(embert_model_layer_heads(&model, 0, 0), 0u);
  EXPECT_EQ(embert_model_pooling(&model, 0), UINT32_MAX);
  EXPECT_EQ(embert_tokenize_options_default(&model).max_tokens, 0);
  EXPECT_EQ(embert_generate_options_default(&model).end_id, UINT32_MAX);
  const embert_text text = {.text = "a", .text_bytes = 1, .pair = nullptr, .pair_bytes = 0};
  std::int32_t id = 0;
  embert_tokens tokens = {.size = sizeof(tokens), .capacity = 1, .ids = &id};
  EXPECT_EQ(embert_tokenize(&model, &text, nullptr, &tokens), EMBERT_STATUS_NO_TOKENIZER);
  embert_tokenizer_info tokenizer = {.size = sizeof(tokenizer)};
  EXPECT_EQ(embert_model_get_tokenizer(&model, &tokenizer), EMBERT_STATUS_NO_TOKENIZER);
  const char* string = nullptr;
  EXPECT_EQ(embert_token(&model, 0, &string, &bytes), EMBERT_STATUS_NO_TOKENIZER);
  char character = 0;
  embert_text_buffer detokenized = {.text = &character, .capacity = 1, .bytes = 0};
  EXPECT_EQ(embert_detokenize(&model, &id, 1, nullptr, &detokenized), EMBERT_STATUS_NO_TOKENIZER);
  const std::uint32_t char_offsets[] = {0, 1};
  std::uint8_t is_subword = 0;
  EXPECT_EQ(embert_mark_subwords(&model, &id, char_offsets, 1, &is_subword),
            EMBERT_STATUS_NO_TOKENIZER);
}

// Braces make a value of an enumeration only where its type is fixed; without that, a number
// outside the enumeration is undefined behaviour before the function that refuses it.
template <typename T>
concept TakesAnyNumber = requires {
  T{1000u};
};

TEST(Enumerations, TakeAnyNumber) {
  static_assert(TakesAnyNumber<embert_status> && TakesAnyNumber<embert_pooling> &&
                TakesAnyNumber<embert_score_function> && TakesAnyNumber<embert_problem> &&
                TakesAnyNumber<embert_aggregation> && TakesAnyNumber<embert_truncation> &&
                TakesAnyNumber<embert_classifier_task> && TakesAnyNumber<embert_token_task> &&
                TakesAnyNumber<embert_tokenizer_type> && TakesAnyNumber<embert_finish>);
  EXPECT_STREQ(embert_status_name(embert_status{1000u}), "unknown status");
  const std::int32_t logit = 1;
  const embert_logits logits = {.values = &logit, .count = 1, .scale = {0x3F800000u}};
  embert_label_score score = {};
  embert_labels labels = {.items = &score, .capacity = 1, .count = 0, .scale = {}};
  EXPECT_EQ(embert_rank_labels(&logits, embert_score_function{1000u}, 1, &labels),
            EMBERT_STATUS_INVALID_OPTION);
}

TEST_F(Arguments, OptionsOutOfRange) {
  EXPECT_EQ(with_options([](embert_options&) {}), EMBERT_STATUS_OK);
  EXPECT_EQ(with_options([](embert_options& o) { o.max_tokens = 0; }),
            EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(with_options([](embert_options& o) { o.max_tokens = 65; }),
            EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(with_options([](embert_options& o) { o.max_batch = 0; }), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(with_options([](embert_options& o) { o.max_batch = 1025; }),
            EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(with_options([](embert_options& o) { o.threads = 0; }), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(with_options([](embert_options& o) { o.threads = 65; }), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(with_options([](embert_options& o) { o.threads = 2; }), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(with_options([](embert_options& o) { o.max_source_tokens = 1; }),
            EMBERT_STATUS_INVALID_OPTION);
  std::size_t bytes = 0;
  EXPECT_EQ(embert_arena_bytes(nullptr, &options_, &bytes), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_arena_bytes(&model_, nullptr, &bytes), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_arena_bytes(&model_, &options_, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
}

TEST_F(Arguments, WrongArena) {
  embert_engine* engine = nullptr;
  EXPECT_EQ(embert_engine_init(&model_, &options_, nullptr, arena_.size(), &engine),
            EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_engine_init(nullptr, &options_, arena_.data(), arena_.size(), &engine),
            EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_engine_init(&model_, &options_, arena_.data(), arena_.size() - 1, &engine),
            EMBERT_STATUS_ARENA_TOO_SMALL);
  EXPECT_EQ(embert_engine_init(&model_, &options_, arena_.data() + 1, arena_.size(), &engine),
            EMBERT_STATUS_ARENA_MISALIGNED);
  EXPECT_EQ(engine, nullptr);
}

TEST_F(Arguments, AnArenaOverTheBlob) {
  const std::size_t before = arena_.size(), blob = blob_.size();
  AlignedBytes both(2 * before + blob);  // room for an arena on each side of the blob
  memcpy(both.data() + before, blob_.data(), blob);
  embert_model model;
  ASSERT_EQ(embert_model_open(both.data() + before, blob, EMBERT_ISA_SCALAR, &model),
            EMBERT_STATUS_OK);
  const auto status_at = [&](std::size_t offset) {
    return embert_engine_init(&model, &options_, both.data() + offset, before, &engine_);
  };
  for (const std::size_t offset : {std::size_t{64}, before, before + blob - 64}) {
    EXPECT_EQ(status_at(offset), EMBERT_STATUS_INVALID_OPTION) << offset;
  }
  EXPECT_EQ(memcmp(both.data() + before, blob_.data(), blob), 0)
      << "refused before the first write";
  EXPECT_EQ(status_at(0), EMBERT_STATUS_OK);
  EXPECT_EQ(status_at(before + blob), EMBERT_STATUS_OK);
}

TEST_F(Arguments, WrongInput) {
  EXPECT_EQ(encode({1, 2, 3}, {3}), EMBERT_STATUS_OK);
  EXPECT_EQ(encode({1}, {0}), EMBERT_STATUS_EMPTY_INPUT);
  EXPECT_EQ(encode({1, 2}, {1, 1}), EMBERT_STATUS_TOO_MANY_TEXTS);
  EXPECT_EQ(encode(std::vector<std::int32_t>(65, 1), {65}), EMBERT_STATUS_TOO_MANY_TOKENS);
  EXPECT_EQ(encode({1, 100}, {2}), EMBERT_STATUS_TOKEN_OUT_OF_RANGE);
  EXPECT_EQ(encode({1, -1}, {2}), EMBERT_STATUS_TOKEN_OUT_OF_RANGE);
  const std::int32_t types[] = {0, 2}, negative[] = {0, -1};
  EXPECT_EQ(encode({1, 2}, {2}, types), EMBERT_STATUS_TYPE_OUT_OF_RANGE);
  EXPECT_EQ(encode({1, 2}, {2}, negative), EMBERT_STATUS_TYPE_OUT_OF_RANGE);
  const std::uint32_t length = 1;
  const std::int32_t id = 1;
  const std::int16_t* hidden = nullptr;
  const embert_input no_ids = make_input(nullptr, nullptr, &length, 1),
                     no_lengths = make_input(&id, nullptr, nullptr, 1),
                     no_texts = make_input(&id, nullptr, &length, 0);
  EXPECT_EQ(embert_last_hidden_state(engine_, &no_texts, &hidden, nullptr),
            EMBERT_STATUS_EMPTY_INPUT);
  EXPECT_EQ(embert_last_hidden_state(engine_, &no_ids, &hidden, nullptr),
            EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_last_hidden_state(engine_, &no_lengths, &hidden, nullptr),
            EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_last_hidden_state(engine_, nullptr, &hidden, nullptr),
            EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_last_hidden_state(nullptr, &no_ids, &hidden, nullptr),
            EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(hidden, nullptr);
}  // namespace

TEST_F(Arguments, WhatTheModelDoesNotHave) {
  SyntheticModel shape;
  shape.heads = 0;
  const AlignedBytes blob(make_synthetic_blob(shape));
  const embert_model model = open_model(blob);
  embert_engine* engine = nullptr;
  ASSERT_EQ(embert_engine_init(&model, &options_, arena_.data(), arena_.size(), &engine),
            EMBERT_STATUS_OK);
  const Texts texts(shape, {3}, 1);
  const embert_input input = texts.input();
  std::vector<std::int16_t> row(shape.hidden_size);
  std::int32_t logits[8];
  EXPECT_EQ(embert_pooler_output(engine, &input, row.data(), nullptr), EMBERT_STATUS_NO_POOLER);
  EXPECT_EQ(embert_classify(engine, &input, logits, nullptr), EMBERT_STATUS_NO_CLASSIFIER);
  EXPECT_EQ(embert_embed(engine, &input, static_cast<embert_pooling>(3), row.data(), nullptr),
            EMBERT_STATUS_INVALID_OPTION);
  embert_tokens tokens = {.size = sizeof(tokens)};
  const embert_text text = {.text = "a", .text_bytes = 1};
  EXPECT_EQ(embert_tokenize(&model, &text, nullptr, &tokens), EMBERT_STATUS_NO_TOKENIZER);
  EXPECT_EQ(embert_model_label(&model, 0), nullptr);
}

TEST_F(Arguments, ModelInfoAndLabels) {
  embert_model_info info = {.size = sizeof(info)};
  ASSERT_EQ(embert_model_get_info(&model_, &info), EMBERT_STATUS_OK);
  EXPECT_EQ(info.hidden_size, shape_.hidden_size);
  EXPECT_EQ(info.num_labels, 5u);
  EXPECT_EQ(info.has_tokenizer, 0u);
  EXPECT_EQ(std::string(info.certificate, info.certificate_bytes), "{}");
  EXPECT_STREQ(embert_model_label(&model_, 0), "label0");
  EXPECT_STREQ(embert_model_label(&model_, 4), "label4");
  EXPECT_EQ(embert_model_label(&model_, 5), nullptr);
  EXPECT_EQ(embert_model_get_info(nullptr, &info), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_model_layer_heads(&model_, 0, 0), shape_.num_heads);
  EXPECT_EQ(embert_model_layer_heads(&model_, 0, info.num_layers), 0u);
  EXPECT_EQ(embert_model_layer_heads(&model_, 1, 0), 0u);
}

TEST(Status, EachHasItsName) {
  EXPECT_STREQ(embert_status_name(EMBERT_STATUS_OK), "EMBERT_STATUS_OK");
  EXPECT_STREQ(embert_status_name(EMBERT_STATUS_ISA), "EMBERT_STATUS_ISA");
  EXPECT_STREQ(embert_status_name(static_cast<embert_status>(9)), "unknown status");
  std::set<std::string> names;
  for (std::uint32_t value = 0; value < 100; ++value) {
    const std::string name = embert_status_name(embert_status{value});
    if (name == "unknown status") continue;
    EXPECT_EQ(name.rfind("EMBERT_STATUS_", 0), 0u) << name;
    EXPECT_TRUE(names.insert(name).second) << name << " is the name of two";
  }
  EXPECT_GT(names.size(), 40u);
}

}  // namespace
}  // namespace embert::test
