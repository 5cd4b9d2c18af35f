// SPDX-License-Identifier: Apache-2.0
// Byte-level BPE from tokenizer.json, and from vocab.json with merges.txt: what is refused, and
// how.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "converter/convert_error.hpp"
#include "converter/import/tokenizer/bpe/vocab_merges_files.hpp"
#include "tests/runtime/tokenizer/tokenizer_harness.hpp"

namespace embert::test {
namespace {

using Json = nlohmann::json;

Json byte_level_json() {
  Json vocab = Json::object();
  const convert::TokenizerSpec bytes = small_byte_level_spec({});
  for (std::uint32_t id = 0; id < 256; ++id) vocab[bytes.tokens[id]] = id;
  vocab["ab"] = 256;
  vocab["abc"] = 257;
  vocab["bc"] = 258;
  vocab["\u0120ab"] = 259;
  vocab["<s>"] = 260;
  return {{"added_tokens", {{{"id", 260}, {"content", "<s>"}, {"special", true}}}},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
          {"model",
           {{"type", "BPE"},
            {"vocab", vocab},
            {"merges", {"a b", "b c", "ab c", Json({"\u0120", "ab"})}}}}};
}

std::string bpe_error_of(const Json& json) {
  try {
    TestTokenizer(convert::parse_tokenizer_json(json.dump(), "tokenizer.json"));
  } catch (const convert::ConvertError& error) {
    return error.what();
  }
  return "none";
}

std::string with_field(const char* pointer, const Json& value) {
  Json json = byte_level_json();
  json[Json::json_pointer(pointer)] = value;
  return bpe_error_of(json);
}

TEST(BpeJsonFile, MergesAsStringsAndAsPairs) {
  EXPECT_EQ(bpe_error_of(byte_level_json()), "none");
  const TestTokenizer tokenizer(
      convert::parse_tokenizer_json(byte_level_json().dump(), "tokenizer.json"));
  EXPECT_EQ(tokenizer.strings("abc bc ab bbc"), "abc \u0120 bc \u0120ab \u0120 b bc");
}

// "b c" first makes "bc" of "abc", so "abc" is never made; nor is a token without merges.
TEST(BpeJsonFile, MergesThatNeverHappen) {
  Json json = byte_level_json();
  json["model"]["merges"] = {"b c", "a b", "ab c"};
  const convert::TokenizerSpec spec = convert::parse_tokenizer_json(json.dump(), "tokenizer.json");
  EXPECT_EQ(spec.bpe().merges.size(), 2u);
  EXPECT_EQ(TestTokenizer(spec).strings("abc ab"), "a bc \u0120 ab");
}

TEST(BpeJsonFile, SettingsWithoutEffect) {
  EXPECT_EQ(with_field("/model/fuse_unk", true), "none");
  EXPECT_EQ(with_field("/model/byte_fallback", true), "none");
  EXPECT_EQ(with_field("/model/unk_token", "<unk>"), "none");
  EXPECT_EQ(with_field("/model/dropout", 0.0), "none");
  EXPECT_EQ(with_field("/model/end_of_word_suffix", ""), "none");
}

TEST(BpeJsonFile, SettingsThatAreNotComputed) {
  const std::string file = "tokenizer.json: ";
  EXPECT_EQ(with_field("/model/dropout", 0.1),
            file + "model: \"dropout\" is not supported; expected null or 0");
  EXPECT_EQ(with_field("/model/ignore_merges", true),
            file + "model: \"ignore_merges\" true is not supported; expected false");
  EXPECT_EQ(with_field("/model/continuing_subword_prefix", "##"),
            file +
                "model: \"continuing_subword_prefix\" \"##\" is not supported with BPE; "
                "expected none");
  EXPECT_EQ(with_field("/model/end_of_word_suffix", "</w>"),
            file +
                "model: \"end_of_word_suffix\" \"</w>\" is not supported with BPE; expected "
                "none");
  EXPECT_EQ(with_field("/normalizer", {{"type", "Lowercase"}}),
            file + "normalizer \"Lowercase\" is not supported with BPE; expected NFC or none");
  EXPECT_EQ(with_field("/pre_tokenizer", nullptr),
            file +
                "\"pre_tokenizer\" is missing; embert reads byte-level BPE, which has "
                "ByteLevel");
  EXPECT_EQ(with_field("/pre_tokenizer", {{"type", "Metaspace"}}),
            file + "pre_tokenizer \"Metaspace\" is not supported with BPE; expected one ByteLevel");
}

TEST(BpeJsonFile, BadVocabularies) {
  const std::string line = "tokenizer.json: model: \"vocab\" must be an object of tokens and ids";
  EXPECT_EQ(with_field("/model/vocab", 3), line);
  EXPECT_EQ(with_field("/model/vocab", Json::object()), line);
  EXPECT_EQ(with_field("/model/dropout", "0.1"),
            "tokenizer.json: model: \"dropout\" must be a number, found \"0.1\"");
}

TEST(BpeJsonFile, BadMerges) {
  const std::string file = "tokenizer.json: ";
  EXPECT_EQ(with_field("/model/merges/1", "a b"),
            file + "merge 2 (\"a\", \"b\") stands there twice, as number 1, too");
  EXPECT_EQ(with_field("/model/merges/1", "b x"),
            file + "merge 2 (\"b\", \"x\"): \"bx\" is not in the vocabulary");
  EXPECT_EQ(with_field("/model/merges/1", "bbb x"),
            file + "merge 2 (\"bbb\", \"x\"): \"bbb\" is not in the vocabulary");
  EXPECT_EQ(with_field("/model/merges/1", "bc"),
            file + "merge 2: expected two tokens, found \"bc\"");
  EXPECT_EQ(with_field("/model/merges/1", "b c d"),
            file + "merge 2: expected two tokens, found \"b c d\"");
  EXPECT_EQ(with_field("/model/merges/1", Json({"b", 2})),
            file + "merge 2: expected two tokens, found an array of 2");
  EXPECT_EQ(with_field("/model/merges/1", " c"),
            file + "merge 2 (\"\", \"c\"): expected two tokens, found an empty one");
  EXPECT_EQ(with_field("/model/merges", Json::array({"ab c", "a b"})),
            file +
                "merge 1 (\"ab\", \"c\") comes before the one that makes \"ab\"; embert reads "
                "merges in an order in which parts come first, as training gives it");
  EXPECT_EQ(with_field("/model/merges", 3), file + "model: \"merges\" must be an array");
  Json json = byte_level_json();
  json["model"]["vocab"].erase("\u0120");
  json["model"]["vocab"]["other"] = 32;
  EXPECT_EQ(bpe_error_of(json),
            file +
                "model: \"vocab\" has no token \"\u0120\" for byte 32; a byte-level BPE needs one "
                "for each of 256 bytes");
}

TEST(BpeJsonFile, LongTokens) {
  Json json = byte_level_json();
  std::string token = "ab";
  for (int i = 0; i < 8; ++i) {
    json["model"]["merges"].push_back(Json({token, token}));
    token += token;
    json["model"]["vocab"][token] = 261 + i;
  }
  EXPECT_TRUE(
      bpe_error_of(json).ends_with(" makes a token of 256 bytes; at most 255 are supported"))
      << bpe_error_of(json);
  for (int i = 0; i < 2; ++i) {
    json["model"]["merges"].erase(json["model"]["merges"].size() - 1);
  }
  EXPECT_TRUE(bpe_error_of(json).ends_with("...\" has 512 bytes, at most 510 are supported"))
      << bpe_error_of(json);
  json["model"]["vocab"].erase(token);
  EXPECT_EQ(bpe_error_of(json), "none");
}

class VocabMergesFolder : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / "vocab_merges_reader";
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    vocab_ = byte_level_json()["model"]["vocab"];
    std::uint32_t id = 261;
    for (const char* const token : {"</s>", "<pad>", "<unk>", "<mask>"}) vocab_[token] = id++;
    write("vocab.json", vocab_.dump());
    write("merges.txt", "#version: 0.2\na b\nb c\r\nab c\n\u0120 ab\n");
    write("tokenizer_config.json", R"({"tokenizer_class": "RobertaTokenizerFast"})");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::optional<convert::TokenizerSpec> read() {
    warnings_.clear();
    return convert::read_tokenizer(folder_, warnings_);
  }
  std::string error() {
    try {
      read();
    } catch (const convert::ConvertError& error) {
      return error.what();
    }
    return "none";
  }

  std::filesystem::path folder_;
  Json vocab_;
  std::vector<std::string> warnings_;
};

TEST_F(VocabMergesFolder, Roberta) {
  const auto spec = read();
  ASSERT_TRUE(spec.has_value());
  const TestTokenizer tokenizer(*spec);
  EXPECT_EQ(tokenizer.encode("abc <mask>", kWithSpecials, "ab").ids,
            (std::vector<std::int32_t>{260, 257, 264, 261, 261, 256, 261}));
  write("tokenizer_config.json",
        R"({"tokenizer_class": "RobertaTokenizer", "add_prefix_space": true})");
  EXPECT_EQ(TestTokenizer(*read()).encode("ab", kPlain).ids, (std::vector<std::int32_t>{259}));
}

TEST_F(VocabMergesFolder, Errors) {
  write("tokenizer_config.json", R"({"tokenizer_class": "CLIPTokenizer"})");
  EXPECT_EQ(error(),
            "tokenizer_config.json: \"tokenizer_class\" \"CLIPTokenizer\" is not supported with "
            "vocab.json and merges.txt; expected RobertaTokenizer or GPT2Tokenizer");
  write("tokenizer_config.json",
        R"({"tokenizer_class": "GPT2Tokenizer", "add_bos_token": true, "unk_token": "<s>",
            "bos_token": "<s>", "eos_token": "<s>"})");
  EXPECT_EQ(error(),
            "tokenizer_config.json: \"add_bos_token\" true is not supported; expected false");
  write("tokenizer_config.json", R"({"tokenizer_class": "GPT2Tokenizer"})");
  EXPECT_EQ(error(), "vocab.json: special token \"<|endoftext|>\" (unk_token) is missing");
  write("tokenizer_config.json",
        R"({"tokenizer_class": "RobertaTokenizer", "added_tokens_decoder": {"x": {}}})");
  EXPECT_EQ(error(),
            "tokenizer_config.json: added_tokens_decoder: \"x\" is no token id with a token");
  write("tokenizer_config.json", R"({"tokenizer_class": "RobertaTokenizer"})");
  write("merges.txt", "#version: 0.2\na b\nbc\n");
  EXPECT_EQ(error(), "merges.txt: line 3: expected two tokens with a blank between, found \"bc\"");
  write("merges.txt", "a b\n\nb c\n");
  EXPECT_EQ(error(), "merges.txt: line 2: expected two tokens with a blank between, found \"\"");
  write("merges.txt", "a b\nb \xff\n");
  EXPECT_EQ(error(), "merges.txt: line 2: expected two tokens with a blank between, found \"b ?\"");
  write("merges.txt", "a b\na b\n");
  EXPECT_EQ(error(),
            "vocab.json and merges.txt: merge 2 (\"a\", \"b\") stands there twice, as number 1, "
            "too");
  write("vocab.json", "[1]");
  EXPECT_EQ(error(), "vocab.json: expected an object of tokens and ids, found an array of 1");
  write("added_tokens.json", R"({"x": 300})");
  write("vocab.json", vocab_.dump());
  EXPECT_EQ(error(),
            "added_tokens.json: not supported without tokenizer.json; load the folder with "
            "transformers and save it again");
}

// As in transformers, whose tokenizer classes set the prefix space.
TEST_F(VocabMergesFolder, ConfigGoesBeforeTokenizerJson) {
  Json json = byte_level_json();
  json["pre_tokenizer"]["add_prefix_space"] = true;
  write("tokenizer.json", json.dump());
  write("tokenizer_config.json", R"({"tokenizer_class": "PreTrainedTokenizerFast"})");
  EXPECT_TRUE(read()->bpe().prefix_space);
  EXPECT_TRUE(warnings_.empty());
  write("tokenizer_config.json", R"({"tokenizer_class": "GPT2Tokenizer"})");
  EXPECT_FALSE(read()->bpe().prefix_space);
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_EQ(warnings_[0],
            "tokenizer_config.json and tokenizer.json differ in add_prefix_space or trim_offsets; "
            "tokenizer_config.json is taken, as transformers does");
}

}  // namespace
}  // namespace embert::test
