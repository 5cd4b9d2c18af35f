// SPDX-License-Identifier: Apache-2.0
// Structs that can grow: a size of 0, too small or beyond any struct is refused, a shorter struct
// is read and written only as far as it goes, a longer one is taken where the unknown bytes are 0.
#include <cstring>

#include "converter/export/write_tokenizer_section.hpp"
#include "runtime/model/struct_size.hpp"
#include "tests/runtime/engine/engine_session.hpp"
#include "tests/support/small_tokenizer.hpp"

namespace embert::test {
namespace {

/// Room behind a struct, as a program compiled against a longer one has it.
constexpr std::size_t kMore = 64;
constexpr unsigned char kGuard = 0xA5;

/// A struct of another length: its first `length` bytes, then guard bytes.
template <typename T>
class Resized {
 public:
  Resized(T given, std::size_t length) : length_(length) {
    given.size = length;
    std::memset(room_, kGuard, sizeof(room_));
    std::memset(room_, 0, length);
    std::memcpy(room_, &given, std::min(length, sizeof(T)));
    if (length < sizeof(std::size_t)) std::memcpy(room_, &given, sizeof(std::size_t));
  }
  T* get() { return reinterpret_cast<T*>(room_); }
  unsigned char& byte(std::size_t at) { return room_[at]; }
  bool guards_intact() const {
    for (std::size_t i = std::max(length_, sizeof(std::size_t)); i < sizeof(room_); ++i) {
      if (room_[i] != kGuard) return false;
    }
    return true;
  }

 private:
  std::size_t length_;
  alignas(16) unsigned char room_[sizeof(T) + kMore + 8];
};

/// Sizes of a struct that a call takes or refuses.
template <typename T, typename Call>
void expect_rule(const T& good, const Call& call, embert_status status = EMBERT_STATUS_OK) {
  for (const std::size_t length : {std::size_t{0}, kRequiredBytes<T> - 1}) {
    Resized<T> short_one(good, length);
    EXPECT_EQ(call(short_one.get()), EMBERT_STATUS_INVALID_OPTION) << length;
    EXPECT_TRUE(short_one.guards_intact()) << length;
  }
  for (const std::size_t size : {struct_size::kMaxBytes + 1, SIZE_MAX}) {
    Resized<T> never_set(good, sizeof(T));
    never_set.get()->size = size;
    EXPECT_EQ(call(never_set.get()), EMBERT_STATUS_INVALID_OPTION) << size;
    EXPECT_TRUE(never_set.guards_intact()) << size;
  }
  for (const std::size_t length :
       {kRequiredBytes<T>, sizeof(T) - sizeof(void*), sizeof(T), sizeof(T) + kMore}) {
    if (length < kRequiredBytes<T>) continue;
    Resized<T> resized(good, length);
    EXPECT_EQ(call(resized.get()), status) << length;
    EXPECT_TRUE(resized.guards_intact()) << length;
    EXPECT_EQ(resized.get()->size, length);
  }
  for (const std::size_t at : {sizeof(T), sizeof(T) + kMore - 1}) {
    Resized<T> longer(good, sizeof(T) + kMore);
    longer.byte(at) = 1;
    EXPECT_EQ(call(longer.get()), EMBERT_STATUS_INVALID_OPTION) << at;
  }
}

/// An init function sets every byte that the size covers.
template <typename T, typename Init>
void expect_init(const T& defaults, const Init& init) {
  EXPECT_EQ(init(static_cast<T*>(nullptr)), EMBERT_STATUS_NULL_ARGUMENT);
  Resized<T> none({}, 0);
  EXPECT_EQ(init(none.get()), EMBERT_STATUS_INVALID_OPTION);
  none.get()->size = SIZE_MAX;
  EXPECT_EQ(init(none.get()), EMBERT_STATUS_INVALID_OPTION);
  for (const std::size_t length : {kRequiredBytes<T>, sizeof(T), sizeof(T) + kMore}) {
    Resized<T> resized({}, length);
    std::memset(&resized.byte(sizeof(std::size_t)), 0x77, length - sizeof(std::size_t));
    EXPECT_EQ(init(resized.get()), EMBERT_STATUS_OK);
    EXPECT_TRUE(resized.guards_intact());
    EXPECT_EQ(resized.get()->size, length);
    const std::size_t known = std::min(length, sizeof(T)) - sizeof(std::size_t);
    EXPECT_EQ(std::memcmp(&resized.byte(sizeof(std::size_t)),
                          reinterpret_cast<const char*>(&defaults) + sizeof(std::size_t), known),
              0);
    for (std::size_t i = sizeof(T); i < length; ++i) EXPECT_EQ(resized.byte(i), 0) << i;
  }
}

class StructGrowth : public testing::Test {
 protected:
  AlignedBytes blob_ =
      AlignedBytes(make_synthetic_blob({}, convert::write_tokenizer_section(small_spec())));
  AlignedBytes arena_ = AlignedBytes(4u << 20);
  embert_model model_ = {};
  embert_engine* engine_ = nullptr;
  const std::int32_t ids_[3] = {1, 2, 3};
  const std::uint32_t length_ = 3;

  void SetUp() override {
    ASSERT_EQ(embert_model_open(blob_.data(), blob_.size(), EMBERT_ISA_SCALAR, &model_),
              EMBERT_STATUS_OK);
    const embert_options options = embert_options_default(&model_);
    ASSERT_EQ(embert_engine_init(&model_, &options, arena_.data(), arena_.size(), &engine_),
              EMBERT_STATUS_OK);
  }
  embert_input input() const {
    return {.size = sizeof(embert_input), .ids = ids_, .lengths = &length_, .batch = 1};
  }
};

TEST_F(StructGrowth, Options) {
  const embert_options good = embert_options_default(&model_);
  std::size_t bytes = 0;
  expect_rule(good, [&](embert_options* o) { return embert_arena_bytes(&model_, o, &bytes); });
  expect_rule(good, [&](embert_options* o) {
    embert_engine* engine = nullptr;
    return embert_engine_init(&model_, o, arena_.data(), arena_.size(), &engine);
  });
  expect_init(good, [&](embert_options* o) { return embert_options_init(&model_, o); });
}

TEST_F(StructGrowth, InputAndOutput) {
  std::vector<std::int16_t> vector(embert_hidden_size(&model_));
  const embert_output no_output = {.size = sizeof(no_output)};
  expect_rule(input(), [&](embert_input* i) {
    embert_output output = no_output;
    return embert_run(engine_, i, &output);
  });
  expect_rule(input(), [&](embert_input* i) {
    return embert_embed(engine_, i, EMBERT_POOLING_MODEL, vector.data(), nullptr);
  });
  expect_rule(no_output, [&](embert_output* o) {
    const embert_input given = input();
    return embert_run(engine_, &given, o);
  });
}

TEST_F(StructGrowth, ShorterStructsGiveTheSameResults) {
  const std::size_t size = embert_hidden_size(&model_);
  std::vector<std::int16_t> expected(size), pooled(size);
  const embert_input whole_input = input();
  ASSERT_EQ(embert_pooler_output(engine_, &whole_input, expected.data(), nullptr),
            EMBERT_STATUS_OK);
  embert_output wanted = {.size = sizeof(wanted), .pooled = pooled.data()};
  Resized<embert_input> short_input(input(), kRequiredBytes<embert_input>);
  Resized<embert_output> short_output(wanted, offsetof(embert_output, hidden_states));
  ASSERT_EQ(embert_run(engine_, short_input.get(), short_output.get()), EMBERT_STATUS_OK);
  EXPECT_EQ(pooled, expected);
  embert_scale scale = {};
  ASSERT_EQ(embert_pooler_output(engine_, &whole_input, expected.data(), &scale), EMBERT_STATUS_OK);
  EXPECT_EQ(short_output.get()->pooled_scale.float_bits, scale.float_bits);
  EXPECT_TRUE(short_output.guards_intact());
}

TEST_F(StructGrowth, Tokenizer) {
  const embert_text text = {.text = "hello", .text_bytes = 5};
  std::int32_t ids[8];
  const embert_tokens tokens = {.size = sizeof(tokens), .capacity = 8, .ids = ids};
  const embert_tokenize_options good = embert_tokenize_options_default(&model_);
  expect_rule(good, [&](embert_tokenize_options* o) {
    embert_tokens result = tokens;
    return embert_tokenize(&model_, &text, o, &result);
  });
  expect_rule(tokens,
              [&](embert_tokens* t) { return embert_tokenize(&model_, &text, nullptr, t); });
  expect_init(good,
              [&](embert_tokenize_options* o) { return embert_tokenize_options_init(&model_, o); });
  const embert_detokenize_options plain = {.size = sizeof(plain)};
  expect_rule(plain, [&](embert_detokenize_options* o) {
    char room[64];
    embert_text_buffer buffer = {.text = room, .capacity = sizeof(room)};
    return embert_detokenize(&model_, ids_, 3, o, &buffer);
  });
}

TEST_F(StructGrowth, Info) {
  expect_rule(embert_model_info{},
              [&](embert_model_info* i) { return embert_model_get_info(&model_, i); });
  expect_rule(embert_stack_info{},
              [&](embert_stack_info* i) { return embert_model_get_stack(&model_, 0, i); });
  expect_rule(embert_section{},
              [&](embert_section* s) { return embert_model_section(&model_, 0, s); });
  expect_rule(embert_tokenizer_info{},
              [&](embert_tokenizer_info* i) { return embert_model_get_tokenizer(&model_, i); });
}

TEST_F(StructGrowth, Tasks) {
  const char* const names[] = {"O", "B-x"};
  const embert_q30 scores[] = {1, 2};
  const std::int32_t words[] = {0}, sequences[] = {-1, 1}, two_words[] = {-1, 0};
  const std::uint32_t offsets[] = {0, 1, 0, 1};
  const std::int32_t logits[] = {0, 0, 0, 0};
  const embert_tag_options tags = {.size = sizeof(tags), .labels = names, .num_labels = 2};
  const embert_tag_window window = {.size = sizeof(window),
                                    .scores = scores,
                                    .word_ids = words,
                                    .byte_offsets = offsets,
                                    .char_offsets = offsets,
                                    .tokens = 1};
  embert_entity entities[4];
  expect_rule(tags, [&](embert_tag_options* o) {
    std::size_t count = 0;
    return embert_find_entities(o, &window, entities, 4, &count);
  });
  expect_rule(window, [&](embert_tag_window* w) {
    std::size_t count = 0;
    return embert_find_entities(&tags, w, entities, 4, &count);
  });

  const embert_scale one = {0x3F800000};
  embert_answer room[1];
  embert_answers list = {};
  const embert_answer_options answer = embert_answer_options_default();
  expect_rule(answer, [&](embert_answer_options* o) {
    return embert_answers_begin(&list, o, one, room, 1);
  });
  expect_init(answer, [](embert_answer_options* o) { return embert_answer_options_init(o); });
  ASSERT_EQ(embert_answers_begin(&list, nullptr, one, room, 1), EMBERT_STATUS_OK);
  const embert_answer_window spans = {.size = sizeof(spans),
                                      .logits = logits,
                                      .sequence_ids = sequences,
                                      .word_ids = two_words,
                                      .byte_offsets = offsets,
                                      .char_offsets = offsets,
                                      .tokens = 2};
  expect_rule(spans, [&](embert_answer_window* w) { return embert_answers_add(&list, w); });

  embert_candidate items[1] = {};
  const embert_candidates candidates = {.items = items, .capacity = 1, .count = 1};
  const embert_sample_options sample = embert_sample_options_default();
  expect_rule(sample, [&](embert_sample_options* o) {
    std::size_t index = 0;
    return embert_sample_candidate(&candidates, one, o, 0, &index);
  });
  expect_init(sample, [](embert_sample_options* o) { return embert_sample_options_init(o); });
}

TEST_F(StructGrowth, SourcesAndGeneration) {
  SyntheticModel shape;
  shape.flags = kStackCausal | kStackCrossAttention;
  shape.heads = kHeadLm;
  shape.start_id = 3;
  shape.cross_hidden_size = shape.hidden_size;
  const AlignedBytes blob(make_synthetic_blob(shape));
  embert_model model;
  ASSERT_EQ(embert_model_open(blob.data(), blob.size(), EMBERT_ISA_SCALAR, &model),
            EMBERT_STATUS_OK);
  embert_options options = embert_options_default(&model);
  options.max_source_tokens = 3;
  embert_engine* engine = nullptr;
  ASSERT_EQ(embert_engine_init(&model, &options, arena_.data(), arena_.size(), &engine),
            EMBERT_STATUS_OK);
  const std::vector<std::int16_t> states(3 * shape.cross_hidden_size, 100);
  const embert_source source = {.size = sizeof(source),
                                .states = states.data(),
                                .lengths = &length_,
                                .batch = 1,
                                .scale = {0x3C000000}};
  expect_rule(source, [&](embert_source* s) { return embert_set_source(engine, s); });

  const embert_generate_options how = embert_generate_options_default(&model);
  std::size_t bytes = 0;
  expect_rule(how, [&](embert_generate_options* o) { return embert_generate_bytes(o, &bytes); });
  expect_init(how,
              [&](embert_generate_options* o) { return embert_generate_options_init(&model, o); });
  alignas(8) std::uint8_t workspace[64];
  std::int32_t made[20];
  const embert_generation generation = {.size = sizeof(generation),
                                        .workspace = workspace,
                                        .workspace_bytes = sizeof(workspace),
                                        .ids = made,
                                        .capacity = 20};
  expect_rule(generation, [&](embert_generation* g) { return embert_generate(engine, &how, g); });
  expect_rule(how, [&](embert_generate_options* o) {
    embert_generation again = generation;
    return embert_generate(engine, o, &again);
  });
}

}  // namespace
}  // namespace embert::test
