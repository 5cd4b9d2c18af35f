// SPDX-License-Identifier: Apache-2.0
// Model files of sentencepiece: the same tokenizer as from the tokenizer.json that transformers
// 4.44 makes of them, and broken files.
#include "converter/import/tokenizer/sentencepiece/read_sentencepiece.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "converter/convert_error.hpp"
#include "tests/runtime/tokenizer/tokenizer_harness.hpp"

namespace embert::test {
namespace {

using convert::SentencePieceSettings;
using Family = SentencePieceSettings::Family;

// Writes what the reader reads; all lengths are below 128.
std::string bytes_field(int number, const std::string& bytes) {
  return std::string(1, static_cast<char>(number * 8 + 2)) + static_cast<char>(bytes.size()) +
         bytes;
}

std::string piece(const std::string& text, float score, int type = 1) {
  std::string number(sizeof(score), 0);
  std::memcpy(number.data(), &score, sizeof(score));
  return bytes_field(1, bytes_field(1, text) + "\x15" + number + "\x18" + static_cast<char>(type));
}

std::string small_model() {
  return piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("</s>", 0, 3) + piece("\u2581a", -1.5f) +
         piece("b", -2) + piece("\u2581", -3) + piece("x", -3, 4);
}

std::string model_error(const std::string& bytes, Family family = Family::kXlmRoberta) {
  try {
    convert::read_sentencepiece(bytes, "sentencepiece.bpe.model", {.family = family});
  } catch (const convert::ConvertError& error) {
    return error.what();
  }
  return "no error";
}

TEST(SentencePieceFile, IdsOfXlmRoberta) {
  const convert::TokenizerSpec spec =
      convert::read_sentencepiece(small_model(), "file", SentencePieceSettings());
  const std::vector<std::string> expected = {"<s>", "<pad>",  "</s>", "<unk>", "\u2581a",
                                             "b",   "\u2581", "x",    "<mask>"};
  EXPECT_EQ(spec.tokens, expected);
  EXPECT_EQ(spec.added_tokens.size(), 6u);  // x, which is user-defined, too
  const TestTokenizer tokenizer(spec);
  EXPECT_EQ(tokenizer.encode("ab <mask>", kWithSpecials).ids,
            (std::vector<std::int32_t>{0, 4, 5, 8, 2}));
  EXPECT_EQ(tokenizer.encode("a", kWithSpecials, "b").ids,
            (std::vector<std::int32_t>{0, 4, 2, 2, 6, 5, 2}));
}

TEST(SentencePieceFile, IdsOfCamembert) {
  const convert::TokenizerSpec spec =
      convert::read_sentencepiece(small_model(), "file", {.family = Family::kCamembert});
  EXPECT_EQ(spec.tokens[4], "<unk>NOTUSED");
  EXPECT_EQ(spec.cls_id, 5u);
  EXPECT_EQ(spec.sep_id, 6u);
  EXPECT_EQ(spec.unk_id, 3u);
  EXPECT_EQ(spec.mask_id, 11u);
}

TEST(SentencePieceFile, BrokenFiles) {
  const std::string good = small_model();
  const std::string head = "sentencepiece.bpe.model: is no model file of sentencepiece: ";
  EXPECT_EQ(model_error(good), "no error");
  EXPECT_EQ(model_error(""), head + "it has no pieces");
  EXPECT_EQ(model_error(good.substr(0, good.size() - 1)), head + "a field of 10 bytes is cut off");
  EXPECT_EQ(model_error("\x0b"), head + "wire type 3");
  EXPECT_EQ(model_error("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
            head + "a number has more than 64 bits");
  EXPECT_EQ(model_error(good + piece("b", -1)),
            "sentencepiece.bpe.model: token \"b\" has the ids 5 and 8; tokens must differ");
  EXPECT_EQ(model_error(good + piece("", -1)), "sentencepiece.bpe.model: piece 8 is empty");
  EXPECT_EQ(model_error(good + piece("\xff", -1)),
            "sentencepiece.bpe.model: piece 8 \"?\" is not UTF-8");
  EXPECT_EQ(model_error(good + piece("c", std::nanf(""))),
            "sentencepiece.bpe.model: score of piece \"c\" is not finite");
  EXPECT_EQ(model_error(good + bytes_field(2, "\x18\x02")),
            "sentencepiece.bpe.model: model_type 2 is not supported; expected 1, Unigram");
  EXPECT_EQ(model_error(good, Family::kAlbert),
            "sentencepiece.bpe.model: token \"[CLS]\" is missing");
  std::string albert;
  for (const char* token : {"[CLS]", "[SEP]", "[MASK]", "<pad>"}) albert += piece(token, 0);
  EXPECT_EQ(model_error(albert + bytes_field(2, "\x18\x01\xc0\x02\x04"), Family::kAlbert),
            "sentencepiece.bpe.model: unk_id 4 is no piece");
  for (std::size_t length = 0; length < good.size(); ++length) model_error(good.substr(0, length));
}

TEST(SentencePieceFile, SameSectionAsTransformersMakes) {
  EMBERT_NEED_SHARED_DIR();
  const std::string folder = shared_dir() + "/reference/tokenizer_families/";
  const struct {
    const char *model, *json;
    Family family;
  } cases[] = {
      {"xlmr/sentencepiece.bpe.model", "xlmr_converted/tokenizer.json", Family::kXlmRoberta},
      {"albert/spiece.model", "albert_converted/tokenizer.json", Family::kAlbert}};
  for (const auto& [model, json, family] : cases) {
    const convert::TokenizerSpec read =
        convert::read_sentencepiece(read_file(folder + model), model, {.family = family});
    const convert::TokenizerSpec expected =
        convert::parse_tokenizer_json(read_file(folder + json), json);
    EXPECT_EQ(read.tokens, expected.tokens) << model;
    EXPECT_EQ(read.unigram().scores, expected.unigram().scores) << model;
    EXPECT_EQ(convert::write_tokenizer_section(read), convert::write_tokenizer_section(expected))
        << model;
  }
}

}  // namespace
}  // namespace embert::test
