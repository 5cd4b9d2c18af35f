// SPDX-License-Identifier: Apache-2.0
// Every kind of tokenizer against what the package tokenizers gives, from files of the repository
// (tests/data/tokenizers/make_tokenizers.py): ids and offsets of
// texts with special tokens, and the text of the ids.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "runtime/tasks/token_text.hpp"
#include "tests/runtime/tokenizer/tokenizer_harness.hpp"

namespace embert::test {
namespace {

using Json = nlohmann::json;

constexpr const char* kData = EMBERT_SOURCE_DIR "/tests/data/tokenizers/";

struct SmallTokenizer {
  std::string cases, file;
};

std::string text_of(const TestTokenizer& tokenizer, const std::vector<std::int32_t>& ids,
                    std::uint32_t skip_special) {
  const embert_detokenize_options options = {
      .size = sizeof(options), .skip_special = skip_special, .clean_up = 0};
  std::string text(1000, '?');
  embert_text_buffer buffer = {.text = text.data(), .capacity = text.size()};
  EXPECT_EQ(detokenize(tokenizer.view(), ids.data(), ids.size(), options, &buffer),
            EMBERT_STATUS_OK);
  return text.substr(0, buffer.bytes);
}

class SmallGolden : public testing::TestWithParam<SmallTokenizer> {};

TEST_P(SmallGolden, TextsAreThoseOfTheWheel) {
  const TestTokenizer tokenizer(
      convert::parse_tokenizer_json(read_file(GetParam().file), "tokenizer.json"));
  const Json texts = Json::parse(read_file(kData + std::string("texts.json")));
  const Json cases = Json::parse(read_file(kData + GetParam().cases + ".cases.json"));
  ASSERT_GT(texts.size(), 150u);
  ASSERT_EQ(texts.size(), cases.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string text = texts[i].get<std::string>();
    const Tokens actual = tokenizer.encode(text, kWithSpecials);
    ASSERT_EQ(actual.status, TokenizerStatus::kOk) << text;
    EXPECT_EQ(actual.ids, cases[i][0].get<std::vector<std::int32_t>>()) << text;
    EXPECT_EQ(actual.char_offsets, cases[i][1].get<std::vector<std::uint32_t>>()) << text;
    EXPECT_TRUE(has_same_offsets(text, actual)) << text;
    for (const std::uint32_t skip : {0u, 1u}) {
      EXPECT_EQ(text_of(tokenizer, actual.ids, skip), cases[i][2 + skip].get<std::string>())
          << text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, SmallGolden,
    testing::Values(
        SmallTokenizer{"word-piece", EMBERT_SOURCE_DIR "/targets/demo/tiny-intent/tokenizer.json"},
        SmallTokenizer{"unigram", std::string(kData) + "unigram.json"},
        SmallTokenizer{"unigram-lowercase", std::string(kData) + "unigram-lowercase.json"},
        SmallTokenizer{"byte-pair", std::string(kData) + "byte-pair.json"}),
    [](const auto& tested) {
      std::string name = tested.param.cases;
      std::erase(name, '-');
      return name;
    });

}  // namespace
}  // namespace embert::test
