// SPDX-License-Identifier: Apache-2.0
// Edge cases that need no other data: invalid UTF-8, marks, added tokens, capacity, windows, very
// long input.
#include <gtest/gtest.h>

#include "tests/runtime/tokenizer/tokenizer_harness.hpp"
#include "tests/support/system/linear_time.hpp"

namespace embert::test {
namespace {

using Status = TokenizerStatus;
using Offsets = std::vector<std::uint32_t>;

TEST(TokenizerText, WordsAndPieces) {
  const TestTokenizer tokenizer(small_spec());
  EXPECT_EQ(tokenizer.strings("Hello, WORLD"), "hello [UNK] world");
  EXPECT_EQ(tokenizer.strings("unaffable"), "un ##aff ##able");
  EXPECT_EQ(tokenizer.strings("unaffablex unaff"), "[UNK] un ##aff");
  EXPECT_EQ(tokenizer.strings("hellox hello hellohello"), "[UNK] hello [UNK]");
  EXPECT_EQ(tokenizer.strings("hell helo"), "hell [UNK]");
  EXPECT_EQ(tokenizer.strings("\u4e2da\u56fd"), "\u4e2d a \u56fd");
  EXPECT_EQ(tokenizer.strings("a\tb\r\nc"), "a b c");
  EXPECT_EQ(tokenizer.strings(""), "");
  EXPECT_EQ(tokenizer.strings(" \n\u2003\u200b"), "");
  EXPECT_EQ(tokenizer.strings("caf\u00e9 cafe\u0301 CAF\u00c9"), "cafe cafe cafe");
  EXPECT_EQ(tokenizer.strings("##a"), "[UNK] [UNK] a");
}

TEST(TokenizerText, SettingsChangeTheResult) {
  convert::TokenizerSpec spec = small_spec();
  spec.wordpiece().strip_accents = false;
  EXPECT_EQ(TestTokenizer(spec).strings("caf\u00e9 CAF\u00c9 \u0130"),
            "caf\u00e9 caf\u00e9 i ##\u0307");
  spec.wordpiece().lowercase = false;
  EXPECT_EQ(TestTokenizer(spec).strings("caf\u00e9 Cafe"), "caf\u00e9 [UNK]");
  spec.wordpiece().split_cjk = false;
  EXPECT_EQ(TestTokenizer(spec).strings("\u4e2d\u56fd \u4e2d"), "[UNK] \u4e2d");
  EXPECT_EQ(TestTokenizer(spec).strings("a\u200bb"), "a ##b");
  spec.wordpiece().clean_text = false;
  EXPECT_EQ(TestTokenizer(spec).strings("a\u200bb a\x0b b"), "[UNK] a b");
  EXPECT_EQ(TestTokenizer(spec).strings("\x01 a"), "[UNK] a");
}

TEST(TokenizerText, InvalidUtf8IsDroppedAndCounted) {
  const TestTokenizer tokenizer(small_spec());
  const Tokens t = tokenizer.encode(
      "a\xff"
      "b \xe4\xb8 c\xf0\x9f\x98",
      kPlain);
  EXPECT_EQ(t.ids, (std::vector<std::int32_t>{5, 13, 7}));  // a ##b c
  EXPECT_EQ(t.byte_offsets, (Offsets{0, 1, 2, 3, 7, 8}));
  EXPECT_EQ(t.char_offsets, (Offsets{0, 1, 2, 3, 6, 7}));
  // Surrogates, overlong forms and what lies above U+10FFFF are one unknown character a byte.
  for (const char* bad :
       {"\xed\xa0\x80", "\xc0\x80", "\xe0\x80\x80", "\xf4\x90\x80\x80", "\xf5", "\x80", "\xc3"}) {
    EXPECT_EQ(tokenizer.strings(std::string("a") + bad + "b"), "a ##b");
    EXPECT_EQ(tokenizer.strings(std::string("[MASK]") + bad + "[MASK]"), "[MASK] [MASK]");
  }
  convert::TokenizerSpec spec = small_spec();
  spec.wordpiece().clean_text = false;
  spec.tokens.push_back("\ufffd");
  spec.in_vocabulary.push_back(true);
  EXPECT_EQ(TestTokenizer(spec).strings("\xff \xe4\xb8 \xed\xa0"), "\ufffd \ufffd [UNK]");
}

TEST(TokenizerText, OffsetsPointIntoTheOriginal) {
  const TestTokenizer tokenizer(small_spec());
  const Tokens t = tokenizer.encode("\u00dcn\u00c4ffable \u4e2d!", kPlain);
  EXPECT_EQ(t.ids, (std::vector<std::int32_t>{8, 10, 11, 20, 22}));
  EXPECT_EQ(t.byte_offsets, (Offsets{0, 3, 3, 7, 7, 11, 12, 15, 15, 16}));
  EXPECT_EQ(t.char_offsets, (Offsets{0, 2, 2, 5, 5, 9, 10, 11, 11, 12}));
  EXPECT_EQ(t.word_ids, (std::vector<std::int32_t>{0, 0, 0, 1, 2}));
}

TEST(TokenizerText, WordLimitCountsNormalisedCharacters) {
  const TestTokenizer tokenizer(small_spec());
  const std::string word = "a" + std::string(99, 'b');
  std::string pieces = "a";
  for (int i = 0; i < 99; ++i) pieces += " ##b";
  EXPECT_EQ(tokenizer.strings(word), pieces);
  EXPECT_EQ(tokenizer.strings(word + "b"), "[UNK]");
  EXPECT_EQ(tokenizer.strings(word + "\u0301"), pieces);
  EXPECT_EQ(tokenizer.strings(word + "\u200b\u00e7"), "[UNK]");
  const Tokens t = tokenizer.encode(word + "b\u00e7 a", kPlain);
  EXPECT_EQ(t.char_offsets, (Offsets{0, 102, 103, 104}));
}

TEST(TokenizerText, AddedTokens) {
  convert::TokenizerSpec spec = small_spec();
  const TestTokenizer plain(spec);
  EXPECT_EQ(plain.strings("a[MASK]b [mask] [MASK"), "a [MASK] b [UNK] [UNK] [UNK] [UNK] [UNK]");
  EXPECT_EQ(plain.encode("[CLS]", kWithSpecials).word_ids, (std::vector<std::int32_t>{-1, 0, -1}));
  spec.added_tokens[4].strip_left = true;
  spec.added_tokens[4].strip_right = true;
  spec.tokens.insert(spec.tokens.end(), {"Hello W", "Hello World", "[M"});
  spec.in_vocabulary.resize(spec.tokens.size());
  const std::uint32_t next = static_cast<std::uint32_t>(spec.tokens.size()) - 3;
  spec.added_tokens.push_back({.content = "Hello W", .id = next, .normalized = true});
  spec.added_tokens.push_back(
      {.content = "Hello World", .id = next + 1, .strip_right = true, .normalized = true});
  spec.added_tokens.push_back({.content = "[M", .id = next + 2, .special = true});
  const TestTokenizer tokenizer(spec);
  const Tokens mask = tokenizer.encode("a \u2003[MASK]\n b", kPlain);
  EXPECT_EQ(mask.char_offsets, (Offsets{0, 1, 1, 11, 11, 12}));
  EXPECT_EQ(tokenizer.strings("[MA"), "[M a");
  // Normalised tokens are found in any letter case, inside words, longest first.
  EXPECT_EQ(tokenizer.strings("aHELL\u00d6 worldb a"), "a Hello World b a");
  EXPECT_EQ(tokenizer.strings("hello wb"), "Hello W b");
  EXPECT_EQ(tokenizer.encode("hello world  \t", kPlain).char_offsets, (Offsets{0, 14}));
}

TEST(TokenizerText, Capacity) {
  const TestTokenizer tokenizer(small_spec());
  const std::string text = "unaffable a b c";
  const Tokens whole = tokenizer.encode(text, kWithSpecials);
  ASSERT_EQ(whole.ids.size(), 8u);
  for (std::size_t capacity = 0; capacity <= 8; ++capacity) {
    std::vector<std::int32_t> ids(capacity + 1, -7);
    embert_tokens tokens = {};
    tokens.capacity = capacity;
    tokens.ids = ids.data();
    const Status status = tokenize(tokenizer.view(), text_of(text), kWithSpecials, &tokens);
    EXPECT_EQ(status, capacity < 8 ? Status::kCapacityTooSmall : Status::kOk);
    EXPECT_EQ(tokens.length, 8u);
    EXPECT_EQ(ids[capacity], -7);
  }
}

TEST(TokenizerText, Arguments) {
  const TestTokenizer tokenizer(small_spec());
  const TokenizerView& view = tokenizer.view();
  embert_tokens tokens = {};
  tokens.capacity = 4;
  embert_tokenize_options options = kPlain;
  EXPECT_EQ(tokenize(view, text_of("a"), options, nullptr), Status::kNullArgument);
  EXPECT_EQ(tokenize({}, text_of("a"), options, &tokens), Status::kNullArgument);
  EXPECT_EQ(tokenize(view, {nullptr, 1, nullptr, 0}, options, &tokens), Status::kNullArgument);
  EXPECT_EQ(tokenize(view, {"a", 1, nullptr, 1}, options, &tokens), Status::kNullArgument);
  EXPECT_EQ(tokenize(view, {nullptr, 0, nullptr, 0}, options, &tokens), Status::kOk);
  EXPECT_EQ(tokenize(view, {"a", kMaxTextBytes + 1, nullptr, 0}, options, &tokens),
            Status::kTextTooLong);
  options.max_tokens = -1;
  EXPECT_EQ(tokenize(view, text_of("a"), options, &tokens), Status::kBadOption);
  options = kPlain;
  options.stride = -1;
  EXPECT_EQ(tokenize(view, text_of("a"), options, &tokens), Status::kBadOption);
  options = kPlain;
  options.truncation = 4;
  EXPECT_EQ(tokenize(view, text_of("a"), options, &tokens), Status::kBadOption);
  options = {.max_tokens = 3, .add_special_tokens = 1, .truncation = EMBERT_TRUNCATION_ONLY_SECOND};
  EXPECT_EQ(tokenize(view, text_of("a b"), options, &tokens), Status::kNoSecondSequence);
  const char* string = nullptr;
  std::size_t bytes = 0;
  EXPECT_EQ(tokenizer_token(view, view.header->token_count, &string, &bytes),
            Status::kTokenOutOfRange);
  EXPECT_EQ(tokenizer_token(view, 4, nullptr, &bytes), Status::kNullArgument);
  EXPECT_EQ(tokenizer.token(4), "[MASK]");
}

TEST(TokenizerText, WindowsOfAPair) {
  const TestTokenizer tokenizer(small_spec());
  // Two texts of four tokens in room for two each, one repeated: three windows each, nine together.
  embert_tokenize_options options = {.max_tokens = 7,
                                     .stride = 1,
                                     .add_special_tokens = 1,
                                     .truncation = EMBERT_TRUNCATION_LONGEST_FIRST};
  const std::vector<std::string> expected = {"ab|ab", "bc|ab", "bc|bc", "bc|ca", "ca|ab",
                                             "ca|bc", "ca|ca", "ab|bc", "ab|ca"};
  for (std::uint32_t window = 0; window < 9; ++window) {
    options.window = window;
    const Tokens t = tokenizer.encode("a b c a", options, "a b c a");
    ASSERT_EQ(t.windows, 9u);
    std::string text;
    for (std::size_t i = 1; i + 1 < t.ids.size(); ++i) {
      text += t.sequence_ids[i] < 0 ? "|" : tokenizer.token(static_cast<std::uint32_t>(t.ids[i]));
    }
    EXPECT_EQ(text, expected[window]) << window;
  }
  options.window = 9;
  EXPECT_EQ(tokenizer.encode("a b c a", options, "a b c a").status, Status::kWindowOutOfRange);
}

TEST(TokenizerText, LinearTime) {
  convert::TokenizerSpec spec = small_spec();
  spec.added_tokens.push_back(
      {.content = "aaab", .id = 5, .strip_left = true, .strip_right = true, .normalized = true});
  spec.added_tokens[4].strip_left = spec.added_tokens[4].strip_right = true;
  const TestTokenizer tokenizers[] = {TestTokenizer(small_spec()), TestTokenizer(spec)};
  const std::string units[] = {"a",          "a ",       " ",
                               "[",          "[MASK",    "[MASK] ",
                               "\u0301",     "\u302e",   "\u302e\u0301\u0334\u08d4",
                               "\U0001d15e", "\u0344",   "aaa",
                               "\u4e2d",     "\uac00",   "\xff",
                               "\xe4\xb8",   "a\u0301",  "\u200b",
                               "!",          "un\u200b", "a\x01",
                               "\u2003"};
  for (const TestTokenizer& tokenizer : tokenizers) {
    for (const std::string& unit : units) {
      SCOPED_TRACE(testing::PrintToString(unit));
      const auto repeated = [&](std::size_t bytes) {
        std::string text = "e";
        while (text.size() < bytes) text += unit;
        return text;
      };
      expect_linear_time(100'000, repeated, [&](const std::string& text) {
        embert_tokens tokens = {};
        tokenize(tokenizer.view(), text_of(text), kPlain, &tokens);
      });
    }
  }
}

}  // namespace
}  // namespace embert::test
