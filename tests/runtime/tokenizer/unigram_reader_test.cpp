// SPDX-License-Identifier: Apache-2.0
// Unigram in tokenizer.json: every refusal of its reader with the exact message.
#include <gtest/gtest.h>

#include <limits>

#include "converter/convert_error.hpp"
#include "converter/import/json_file.hpp"
#include "converter/import/tokenizer/read_tokenizer.hpp"
#include "converter/import/tokenizer/tokenizer_json.hpp"
#include "tests/support/error_text.hpp"

namespace embert::test {
namespace {

using convert::Json;

Json unigram_json() {
  Json vocab = Json::array();
  vocab.push_back({"<unk>", 0.0});
  vocab.push_back({"a", -1.5});
  vocab.push_back({"\u2581", -2.0});
  return {{"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "Metaspace"}}},
          {"model", {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", vocab}}}};
}

std::string refusal_of(const std::string& text) {
  try {
    convert::parse_tokenizer_json(text, "tokenizer.json");
  } catch (const convert::ConvertError& error) {
    return error.what();
  }
  return "none";
}

std::string with(const char* pointer, const Json& value) {
  Json json = unigram_json();
  json[Json::json_pointer(pointer)] = value;
  return refusal_of(json.dump());
}

/// The text of the document with one part replaced: values that no JSON value has.
std::string with_text(const std::string& part, const std::string& other) {
  std::string text = unigram_json().dump();
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return refusal_of(text.replace(at, part.size(), other));
}

TEST(UnigramJsonFile, IsRead) { EXPECT_EQ(refusal_of(unigram_json().dump()), "none"); }

TEST(UnigramJsonFile, BadPieces) {
  const std::string file = "tokenizer.json: ";
  EXPECT_EQ(with("/model/vocab/2", Json({"a", -2.0})),
            file + "token \"a\" has the ids 1 and 2; tokens must differ");
  EXPECT_EQ(with("/model/vocab/1", Json({"", -1.0})),
            file + "model: \"vocab\": entry 1 is an empty piece");
  EXPECT_EQ(with("/model/vocab/1", "a"),
            file + "model: \"vocab\": entry 1 must be a piece and its score, found \"a\"");
  EXPECT_EQ(with("/model/vocab/1", Json({"a", "-1"})),
            file + "model: \"vocab\": entry 1 must be a piece and its score, found an array of 2");
  EXPECT_EQ(with("/model/vocab/1", Json({"a", nullptr})),
            file + "model: \"vocab\": entry 1 must be a piece and its score, found an array of 2");
  EXPECT_EQ(with("/model/vocab", Json::array()),
            file + "model: \"vocab\" must be an array of pieces and scores");
  EXPECT_EQ(with("/model/vocab", 3),
            file + "model: \"vocab\" must be an array of pieces and scores");
  EXPECT_EQ(with_text("\"a\"", "\"\xff\""),
            file +
                "not valid JSON: parse error at line 1, column 64: syntax error while parsing "
                "value - invalid string: ill-formed UTF-8 byte; last read: '\"?'");
}

// Python's json module writes and reads these, which no JSON is.
TEST(UnigramJsonFile, ScoresThatAreNoNumbers) {
  const std::string file = "tokenizer.json: not valid JSON: ";
  const std::string syntax = "syntax error while parsing value - ";
  EXPECT_EQ(with_text("-1.5", "NaN"), file + "parse error at line 1, column 67: " + syntax +
                                          "invalid literal; last read: '\"a\",N'");
  EXPECT_EQ(with_text("-1.5", "-Infinity"),
            file + "parse error at line 1, column 68: " + syntax +
                "invalid number; expected digit after '-'; last read: '-I'");
  EXPECT_EQ(with_text("-1.5", "-1e999"), file + "number overflow parsing '-1e999'");
  // A caller's own document may hold one.
  Json json = unigram_json();
  json["model"]["vocab"][1][1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(error_text([&] { convert::parse_tokenizer_json(json, "tokenizer.json"); }),
            "tokenizer.json: model: \"vocab\": entry 1: score of \"a\" is not finite");
}

TEST(UnigramJsonFile, UnknownPiece) {
  const std::string file = "tokenizer.json: ";
  EXPECT_EQ(with("/model/unk_id", nullptr),
            file + "model: \"unk_id\" is missing; embert needs a piece for unknown characters");
  EXPECT_EQ(with("/model/unk_id", 3),
            file + "model: \"unk_id\" must be a whole number from 0 to 2, found 3");
  EXPECT_EQ(with("/model/unk_id", -1),
            file + "model: \"unk_id\" must be a whole number from 0 to 2, found -1");
}

TEST(UnigramJsonFile, BadSteps) {
  const std::string normalizer = "tokenizer.json: normalizer: ";
  EXPECT_EQ(with("/normalizer", {{"type", "Sequence"}, {"normalizers", 1}}),
            normalizer + "\"normalizers\" must be an array");
  EXPECT_EQ(with("/normalizer", {{"type", "Replace"}, {"content", ""}}),
            normalizer + "Replace: \"pattern\" is missing");
  EXPECT_EQ(with("/normalizer", {{"type", "Precompiled"}, {"precompiled_charsmap", "AB"}}),
            normalizer + "precompiled_charsmap: is no base64 text");
  const std::string pre_tokenizer = "tokenizer.json: pre_tokenizer: ";
  EXPECT_EQ(with("/pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", 1}}),
            pre_tokenizer + "\"pretokenizers\" must be an array");
  EXPECT_EQ(with("/pre_tokenizer/prepend_scheme", "last"),
            pre_tokenizer +
                "Metaspace: prepend_scheme \"last\" is not supported; expected always, first or "
                "never");
}

}  // namespace
}  // namespace embert::test
