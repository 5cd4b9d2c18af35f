// SPDX-License-Identifier: Apache-2.0
// Tokens as text, subwords, and the public functions on a model.
#include "runtime/tasks/token_text.hpp"

#include <gtest/gtest.h>

#include "embert/embert_tasks.h"
#include "embert/embert_tokenizer.h"
#include "tests/runtime/tokenizer/tokenizer_harness.hpp"
#include "tests/support/small_unigram.hpp"
#include "tests/support/synthetic_blob.hpp"

namespace embert::test {
namespace {

/// Ids: 0 [PAD] 1 [UNK] 2 [CLS] 3 [SEP] 4 [MASK], then from 5 on.
convert::TokenizerSpec spec_of(const std::vector<std::string>& words) {
  convert::TokenizerSpec spec = small_spec();
  spec.tokens.resize(5);
  spec.tokens.insert(spec.tokens.end(), words.begin(), words.end());
  spec.in_vocabulary.assign(spec.tokens.size(), true);
  return spec;
}

constexpr embert_detokenize_options kPlain = {.size = sizeof(kPlain)};
constexpr embert_detokenize_options kCleanUp = {.size = sizeof(kCleanUp), .clean_up = 1};
constexpr embert_detokenize_options kSkipSpecial = {.size = sizeof(kPlain), .skip_special = 1};

std::string text_of(const std::vector<std::string>& words, std::vector<std::int32_t> ids = {},
                    embert_detokenize_options options = kPlain) {
  const TestTokenizer tokenizer(spec_of(words));
  if (ids.empty()) {
    for (std::size_t i = 0; i < words.size(); ++i) ids.push_back(static_cast<std::int32_t>(5 + i));
  }
  const auto write = [&](std::string& room, std::size_t capacity, std::size_t* bytes) {
    embert_text_buffer buffer = {.text = room.data(), .capacity = capacity};
    const embert_status status =
        detokenize(tokenizer.view(), ids.data(), ids.size(), options, &buffer);
    *bytes = buffer.bytes;
    return status;
  };
  std::string text(200, '?');
  std::size_t bytes = 0;
  EXPECT_EQ(write(text, text.size(), &bytes), EMBERT_STATUS_OK);
  // Room of exactly the text's size, or of what is asked for, is enough.
  for (std::size_t capacity = 0; capacity < bytes; ++capacity) {
    std::string small(capacity + 1, '?');
    std::size_t needed = 0;
    EXPECT_EQ(write(small, capacity, &needed), EMBERT_STATUS_BUFFER_TOO_SMALL);
    EXPECT_EQ(small[capacity], '?');
    std::string again(needed, '?');
    std::size_t length = 0;
    EXPECT_EQ(write(again, needed, &length), EMBERT_STATUS_OK);
    EXPECT_EQ(length, bytes);
  }
  return text.substr(0, bytes);
}

TEST(TokenText, PiecesAndPunctuation) {
  EXPECT_EQ(text_of({"un", "##aff", "##able", "word", "!", "caf\u00e9", ",", "##x", "\u4e2d"}),
            "unaffable word! caf\u00e9,x \u4e2d");
  EXPECT_EQ(text_of({"##aff", "word"}), "##aff word");  // nothing to go on with
  EXPECT_EQ(text_of({"a", ".", "..", "?", "(", "b", ")"}),
            "a..."
            "? ( b )");
}

TEST(TokenText, CleanUp) {
  const std::vector<std::string> words = {"i", "'", "m", "don", "t", "we", "re", "s", "ve"};
  const std::vector<std::int32_t> ids = {5, 6, 7, 8, 6, 9, 10, 6, 11, 6, 6, 12};
  EXPECT_EQ(text_of(words, ids), "i ' m don ' t we ' re ' ' s");
  EXPECT_EQ(text_of(words, ids, kCleanUp), "i'm don't we're'' s");
  EXPECT_EQ(text_of({"do", "n't", "'s", "x"}, {}, kPlain), "don't's x");
}

TEST(TokenText, SpecialTokens) {
  EXPECT_EQ(text_of({"a", "b"}, {2, 5, 4, 6, 1, 3, 0}), "[CLS] a [MASK] b [UNK] [SEP] [PAD]");
  EXPECT_EQ(text_of({"a", "b"}, {2, 5, 4, 6, 1, 3, 0}, kSkipSpecial), "a b");
  EXPECT_EQ(text_of({"##a", "b"}, {2, 5, 6}, kSkipSpecial), "##a b");  // the first that is left
  EXPECT_EQ(text_of({"##a"}, {2, 3}, kSkipSpecial), "");
}

TEST(TokenText, Subwords) {
  const TestTokenizer tokenizer(spec_of({"caf\u00e9", "##a", "\u4e2d"}));
  const std::int32_t ids[] = {5, 5, 6, 6, 7, 1, 1};
  const std::uint32_t offsets[] = {0, 4, 0, 5, 4, 5, 4, 7, 9, 10, 0, 9, 0, 5};
  std::uint8_t is_subword[7];
  ASSERT_EQ(mark_subwords(tokenizer.view(), ids, offsets, 7, is_subword), EMBERT_STATUS_OK);
  EXPECT_EQ(std::vector<int>(is_subword, is_subword + 7), (std::vector<int>{0, 1, 1, 0, 0, 0, 0}));
}

std::string byte_level_text(const TestTokenizer& tokenizer, std::vector<std::int32_t> ids,
                            embert_detokenize_options options = kPlain) {
  std::string text(100, '?');
  embert_text_buffer buffer = {.text = text.data(), .capacity = text.size()};
  EXPECT_EQ(detokenize(tokenizer.view(), ids.data(), ids.size(), options, &buffer),
            EMBERT_STATUS_OK);
  std::string exact(buffer.bytes + 1, '?');
  embert_text_buffer room = {.text = exact.data(), .capacity = buffer.bytes};
  EXPECT_EQ(detokenize(tokenizer.view(), ids.data(), ids.size(), kPlain, &room),
            options.skip_special == 0 && options.clean_up == 0 ? EMBERT_STATUS_OK
                                                               : EMBERT_STATUS_BUFFER_TOO_SMALL);
  EXPECT_EQ(exact.back(), '?');
  return text.substr(0, buffer.bytes);
}

TEST(TokenText, ByteLevel) {
  convert::TokenizerSpec spec = small_byte_level_spec({{' ', 'a'}, {'b', 'c'}, {0xC3, 0xA9}});
  spec.tokens.emplace_back("  ");  // as ModernBERT has it: no string of the byte alphabet
  spec.in_vocabulary.push_back(true);
  const TestTokenizer tokenizer(spec);
  const std::vector<std::int32_t> all = {259, 256, 257, 262, 258, 261, '\n', '!', 260};
  EXPECT_EQ(byte_level_text(tokenizer, all), "<s> abc  \u00e9<mask>\n!</s>");
  const std::vector<std::int32_t> few = {259, 256, 257, 261, '.', 260};
  EXPECT_EQ(byte_level_text(tokenizer, few, kSkipSpecial), " abc.");
  EXPECT_EQ(byte_level_text(tokenizer, {256, ' ', '.', ' ', 'b'}, kCleanUp), " a. b");
  // Bytes of several tokens make one character; what is not UTF-8 becomes U+FFFD, as in Python's
  // errors="replace".
  EXPECT_EQ(byte_level_text(tokenizer, {0xF0, 0x9F, 0x98, 0x80}), "\U0001f600");
  const std::vector<std::int32_t> broken = {'a', 0xF0, 0x9F, 'b', 0x98, 0xC3};
  EXPECT_EQ(byte_level_text(tokenizer, broken), "a\ufffdb\ufffd\ufffd");
  const std::int32_t none[] = {263};
  embert_text_buffer buffer = {};
  EXPECT_EQ(detokenize(tokenizer.view(), none, 1, kPlain, &buffer),
            EMBERT_STATUS_TOKEN_OUT_OF_RANGE);
}

// transformers: a subword begins behind the text's begin, and neither it nor what is before it is a
// space.
TEST(TokenText, ByteLevelSubwords) {
  const TestTokenizer tokenizer(small_byte_level_spec({{' ', 'a'}, {'b', 'c'}}));
  const std::int32_t ids[] = {258, 'x', 256, 257, ' ', '\n', 'b', 259};
  const std::uint32_t offsets[] = {0, 0, 0, 1, 2, 3, 3, 5, 5, 6, 6, 7, 7, 8, 0, 0};
  std::uint8_t is_subword[8];
  ASSERT_EQ(mark_subwords(tokenizer.view(), ids, offsets, 8, is_subword), EMBERT_STATUS_OK);
  EXPECT_EQ(std::vector<int>(is_subword, is_subword + 8),
            (std::vector<int>{0, 0, 0, 1, 0, 0, 1, 0}));
}

// Each judged by the rule of transformers: a blank stands before the token or in it.
TEST(TokenText, UnigramSubwords) {
  const TestTokenizer tokenizer(
      unigram_spec({{"\u2581he", -1}, {"llo", -1}, {"\u2581", -1}, {"x", -1}}));
  // "hello x?xhe": the mark alone stands behind the blank.
  const std::int32_t ids[] = {1, 2, 3, 4, 0, 4, 1};
  const std::uint32_t offsets[] = {0, 2, 2, 5, 6, 7, 6, 7, 7, 8, 8, 9, 9, 11};
  std::uint8_t is_subword[7];
  ASSERT_EQ(mark_subwords(tokenizer.view(), ids, offsets, 7, is_subword), EMBERT_STATUS_OK);
  EXPECT_EQ(std::vector<int>(is_subword, is_subword + 7), (std::vector<int>{0, 1, 0, 0, 0, 1, 0}));
}

class TokenTextOfModel : public testing::Test {
 protected:
  AlignedBytes blob_, plain_blob_;
  embert_model model_ = {}, plain_ = {};
  char text_[32] = {};
  embert_text_buffer buffer_ = {.text = text_, .capacity = sizeof(text_)};

  void SetUp() override {
    blob_ =
        AlignedBytes(make_synthetic_blob({}, write_tokenizer_section(spec_of({"hello", "##s"}))));
    plain_blob_ = AlignedBytes(make_synthetic_blob({}));
    ASSERT_EQ(embert_model_open(blob_.data(), blob_.size(), EMBERT_ISA_SCALAR, &model_),
              EMBERT_STATUS_OK);
    ASSERT_EQ(embert_model_open(plain_blob_.data(), plain_blob_.size(), EMBERT_ISA_SCALAR, &plain_),
              EMBERT_STATUS_OK);
  }
  embert_status text(const std::vector<std::int32_t>& ids,
                     const embert_detokenize_options* options = nullptr) {
    return embert_detokenize(&model_, ids.data(), ids.size(), options, &buffer_);
  }
};

TEST_F(TokenTextOfModel, Detokenizes) {
  ASSERT_EQ(text({2, 5, 6, 3}), EMBERT_STATUS_OK);
  EXPECT_EQ(std::string(text_, buffer_.bytes), "[CLS] hellos [SEP]");
  ASSERT_EQ(text({2, 5, 6, 3}, &kSkipSpecial), EMBERT_STATUS_OK);
  EXPECT_EQ(std::string(text_, buffer_.bytes), "hellos");
}

TEST_F(TokenTextOfModel, BadArguments) {
  const std::int32_t ids[] = {5};
  const std::uint32_t offsets[] = {0, 5};
  std::uint8_t is_subword[1];
  embert_text_buffer no_text = {.text = nullptr, .capacity = 32};
  EXPECT_EQ(embert_detokenize(nullptr, ids, 1, nullptr, &buffer_), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_detokenize(&model_, nullptr, 1, nullptr, &buffer_), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_detokenize(&model_, ids, 1, nullptr, &no_text), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_detokenize(&model_, ids, 1, nullptr, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_detokenize(&model_, ids, 0, nullptr, &buffer_), EMBERT_STATUS_EMPTY_INPUT);
  EXPECT_EQ(embert_detokenize(&plain_, ids, 1, nullptr, &buffer_), EMBERT_STATUS_NO_TOKENIZER);
  const embert_detokenize_options bad[] = {{sizeof(kPlain), 2, 0}, {sizeof(kPlain), 0, 2}};
  EXPECT_EQ(text({5}, &bad[0]), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(text({5}, &bad[1]), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(text({5, 7}), EMBERT_STATUS_TOKEN_OUT_OF_RANGE);
  EXPECT_EQ(text({-1}), EMBERT_STATUS_TOKEN_OUT_OF_RANGE);
  buffer_.capacity = 4;
  EXPECT_EQ(embert_detokenize(&model_, ids, 1, nullptr, &buffer_), EMBERT_STATUS_BUFFER_TOO_SMALL);
  EXPECT_EQ(buffer_.bytes, 5u);
  EXPECT_EQ(embert_mark_subwords(nullptr, ids, offsets, 1, is_subword),
            EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_mark_subwords(&model_, nullptr, offsets, 1, is_subword),
            EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_mark_subwords(&model_, ids, nullptr, 1, is_subword),
            EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_mark_subwords(&model_, ids, offsets, 1, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_mark_subwords(&model_, ids, offsets, 0, is_subword), EMBERT_STATUS_EMPTY_INPUT);
  EXPECT_EQ(embert_mark_subwords(&plain_, ids, offsets, 1, is_subword), EMBERT_STATUS_NO_TOKENIZER);
  const std::int32_t outside[] = {7};
  EXPECT_EQ(embert_mark_subwords(&model_, outside, offsets, 1, is_subword),
            EMBERT_STATUS_TOKEN_OUT_OF_RANGE);
  EXPECT_EQ(embert_mark_subwords(&model_, ids, offsets, 1, is_subword), EMBERT_STATUS_OK);
  EXPECT_EQ(is_subword[0], 0);
}

}  // namespace
}  // namespace embert::test
