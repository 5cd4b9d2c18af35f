// SPDX-License-Identifier: Apache-2.0
// Reading tokenizer files: what they say arrives, and what is broken or unsupported gets its line.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "converter/import/tokenizer/token_table.hpp"
#include "runtime/format/tokenizer_format.hpp"
#include "tests/runtime/tokenizer/tokenizer_harness.hpp"
#include "tests/support/error_text.hpp"

namespace embert::test {
namespace {

using Json = nlohmann::json;
using convert::TokenizerSpec;

Json small_json() {
  return Json::parse(R"({
    "version": "1.0", "truncation": {"direction": "Right", "max_length": 48, "strategy": "LongestFirst", "stride": 0},
    "padding": {"length": 9},
    "added_tokens": [
      {"id": 1, "content": "[UNK]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true},
      {"id": 4, "content": "[MASK]", "single_word": false, "lstrip": true, "rstrip": false, "normalized": false, "special": true},
      {"id": 7, "content": "Extra", "single_word": false, "lstrip": false, "rstrip": false, "normalized": true, "special": false}],
    "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
    "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
      "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4, "a": 5, "##b": 6}}})");
}

TokenizerSpec parse(const Json& json) {
  return convert::parse_tokenizer_json(json.dump(), "tokenizer.json");
}

std::string error_of(const Json& json) {
  return error_text([&] { parse(json); });
}

class TokenizerFolder : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              (std::string("embert_tokenizer_") +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::optional<TokenizerSpec> read() { return convert::read_tokenizer(folder_, warnings_); }
  std::string error() {
    return error_text([&] { read(); });
  }

  std::filesystem::path folder_;
  std::vector<std::string> warnings_;
  const std::string vocab_ = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\n";
};

TEST(TokenizerJsonFile, IsRead) {
  const TokenizerSpec spec = parse(small_json());
  EXPECT_EQ(spec.tokens.size(), 8u);
  EXPECT_EQ(spec.tokens[7], "Extra");
  EXPECT_FALSE(spec.in_vocabulary[7]);
  EXPECT_EQ(spec.max_tokens, 48u);
  EXPECT_TRUE(spec.wordpiece().lowercase && spec.wordpiece().strip_accents &&
              spec.wordpiece().clean_text && spec.wordpiece().split_cjk);
  EXPECT_EQ(spec.cls_id, 2u);
  EXPECT_EQ(spec.pair.size(), 5u);
  const TestTokenizer tokenizer(spec);
  EXPECT_EQ(tokenizer.encode("aB extra", kWithSpecials, "a").ids,
            (std::vector<std::int32_t>{2, 5, 6, 7, 3, 5, 3}));
  EXPECT_EQ(tokenizer.encode("a", kWithSpecials, "a").type_ids,
            (std::vector<std::int32_t>{0, 0, 0, 1, 1}));
}

TEST(TokenizerJsonFile, StripAccentsFollowsLowercaseUnlessSet) {
  Json json = small_json();
  json["normalizer"]["lowercase"] = false;
  EXPECT_FALSE(parse(json).wordpiece().strip_accents);
  json["normalizer"]["strip_accents"] = true;
  EXPECT_TRUE(parse(json).wordpiece().strip_accents);
}

TEST(TokenizerJsonFile, TemplateProcessing) {
  Json json = small_json();
  json["post_processor"] = Json::parse(R"({"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "S", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "S", "type_id": 1}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {"S": {"id": "S", "ids": [2, 3], "tokens": ["[CLS]", "[SEP]"]}}})");
  EXPECT_EQ(TestTokenizer(parse(json)).encode("a", kWithSpecials).ids,
            (std::vector<std::int32_t>{2, 3, 5}));
  EXPECT_EQ(TestTokenizer(parse(json)).encode("a", kWithSpecials, "a").type_ids,
            (std::vector<std::int32_t>{0, 1, 1, 1}));
  json["post_processor"]["pair"] = json["post_processor"]["single"];
  EXPECT_EQ(error_of(json),
            "tokenizer.json: post_processor: \"pair\" must hold A once, then B once");
  json["post_processor"]["special_tokens"] = Json::object();
  EXPECT_EQ(error_of(json),
            "tokenizer.json: post_processor: special token \"S\" is not among \"special_tokens\"");
  json["post_processor"] = nullptr;
  EXPECT_EQ(TestTokenizer(parse(json)).encode("a", kWithSpecials).ids,
            (std::vector<std::int32_t>{5}));
}

TEST(TokenizerJsonFile, UnsupportedPartsAreNamed) {
  const auto with = [](const char* pointer, const Json& value) {
    Json json = small_json();
    json[Json::json_pointer(pointer)] = value;
    return error_of(json);
  };
  EXPECT_EQ(with("/model/type", "WordLevel"),
            "tokenizer.json: model type \"WordLevel\" is not supported; embert reads WordPiece, "
            "Unigram and byte-level BPE");
  EXPECT_EQ(with("/normalizer/type", "NFC"),
            "tokenizer.json: normalizer \"NFC\" is not supported with WordPiece; expected one "
            "BertNormalizer");
  EXPECT_EQ(with("/pre_tokenizer/type", "Whitespace"),
            "tokenizer.json: pre_tokenizer \"Whitespace\" is not supported; embert reads "
            "BertPreTokenizer, WhitespaceSplit, Metaspace, ByteLevel and Sequence");
  EXPECT_EQ(with("/pre_tokenizer", nullptr),
            "tokenizer.json: \"pre_tokenizer\" is missing; expected BertPreTokenizer");
  EXPECT_EQ(with("/post_processor/type", "Other"),
            "tokenizer.json: post_processor \"Other\" is not supported; embert reads "
            "TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel and Sequence");
  EXPECT_EQ(
      with("/normalizer/type", "Other"),
      "tokenizer.json: normalizer \"Other\" is not supported; embert reads BertNormalizer, NFC, "
      "NFKC, NFD, NFKD, StripAccents, Lowercase, Precompiled, Replace, Strip, Prepend and "
      "Sequence");
  EXPECT_EQ(
      with("/truncation/direction", "Left"),
      "tokenizer.json: truncation: direction \"Left\" is not supported; embert cuts at the right");
  EXPECT_EQ(with("/added_tokens/2/single_word", true),
            "tokenizer.json: added token \"Extra\": \"single_word\": true is not supported");
  EXPECT_EQ(with("/added_tokens/2/content", ""), "tokenizer.json: added_tokens: a token is empty");
  EXPECT_EQ(with("/pre_tokenizer/type", "ByteLevel"),
            "tokenizer.json: pre_tokenizer \"ByteLevel\" is not supported with WordPiece; expected "
            "one BertPreTokenizer");
}

TEST(TokenizerJsonFile, MissingParts) {
  const auto with = [](const char* pointer, const Json& value) {
    Json json = small_json();
    json[Json::json_pointer(pointer)] = value;
    return error_of(json);
  };
  EXPECT_EQ(with("/model", nullptr), "tokenizer.json: \"model\" is missing");
  EXPECT_EQ(with("/model/vocab", Json::array({1})),
            "tokenizer.json: model: \"vocab\" must be an object of tokens and ids");
  EXPECT_EQ(with("/model/vocab", Json::object()),
            "tokenizer.json: model: \"vocab\" must be an object of tokens and ids");
  EXPECT_EQ(with("/model/max_input_chars_per_word", 0),
            "tokenizer.json: model: \"max_input_chars_per_word\" must be a whole number from 1 to "
            "200, found 0");
  EXPECT_EQ(with("/added_tokens", 3), "tokenizer.json: \"added_tokens\" must be an array, found 3");
  EXPECT_EQ(with("/added_tokens/2/id", nullptr),
            "tokenizer.json: added token \"Extra\": \"id\" is missing");
  const std::string head = "tokenizer.json: post_processor: ";
  EXPECT_EQ(with("/post_processor", {{"type", "Sequence"}, {"processors", 1}}),
            head + "\"processors\" must be an array");
  EXPECT_EQ(with("/post_processor/sep", "[SEP]"), head + "\"sep\" must be a token and its id");
  const auto with_template = [&](const Json& single, const Json& token) {
    return with("/post_processor", {{"type", "TemplateProcessing"},
                                    {"single", single},
                                    {"pair", Json::array()},
                                    {"special_tokens", {{"S", token}}}});
  };
  const Json special = {{"SpecialToken", {{"id", "S"}, {"type_id", 0}}}};
  EXPECT_EQ(with_template(Json::array({special}), {{"ids", 3}}),
            head + "special token \"S\": \"ids\" must be an array");
  EXPECT_EQ(with_template(Json::array({Json::object()}), {{"ids", {3}}}),
            head + "\"single\": expected Sequence or SpecialToken, found an object");
  // Refused while it is read: written out, these 5,000 items of 20,000 ids would be 1.2 GB.
  EXPECT_EQ(with_template(Json::array_t(5'000, special), {{"ids", Json::array_t(20'000, 3)}}),
            head + "\"single\" has more than 8 pieces, which is not supported");
  const Json far = {{"Sequence", {{"id", "A"}, {"type_id", 256}}}};
  EXPECT_EQ(with_template(Json::array({far}), {{"ids", {3}}}),
            head + "\"single\": \"type_id\" must be a whole number from 0 to 255, found 256");
}

TEST(TokenizerJsonFile, BadIds) {
  const auto with = [](const char* pointer, const Json& value) {
    Json json = small_json();
    json[Json::json_pointer(pointer)] = value;
    return error_of(json);
  };
  EXPECT_EQ(with("/model/vocab/a", 4),
            "tokenizer.json: tokens \"[MASK]\" and \"a\" both have id 4");
  EXPECT_EQ(with("/model/vocab/a", -1),
            "tokenizer.json: id of token \"a\" must be a whole number from 0 to 1048575, found -1");
  EXPECT_EQ(with("/model/vocab/a", 9),
            "tokenizer.json: no token has id 5; ids must go from 0 to 9 without holes");
  EXPECT_EQ(with("/model/unk_token", "<unk>"),
            "tokenizer.json: model: \"unk_token\" \"<unk>\" is not in \"vocab\"");
  EXPECT_EQ(with("/added_tokens/1/id", 3),
            "tokenizer.json: added token \"[MASK]\" has id 3, but 4 elsewhere in the file");
  EXPECT_EQ(with("/post_processor/sep/1", 99),
            "tokenizer.json: post_processor: \"sep\": expected the id of a token, found 99");
  const std::string twice =
      error_text([] { convert::parse_tokenizer_json(R"({"model": 1, "model": 2})", "t.json"); });
  EXPECT_NE(twice.find("t.json: key \"model\""), std::string::npos) << twice;
}

TEST_F(TokenizerFolder, NoTokenizer) {
  EXPECT_FALSE(read().has_value());
  write("tokenizer_config.json", "{}");
  EXPECT_FALSE(read().has_value());
}

TEST_F(TokenizerFolder, VocabularyFile) {
  write("vocab.txt", vocab_ + "x\u2028y\nz\r\n");
  const auto spec = read();
  ASSERT_TRUE(spec.has_value());
  EXPECT_EQ(spec->tokens.size(), 9u);
  EXPECT_EQ(spec->tokens[7], "x\u2028y");
  EXPECT_EQ(spec->tokens[8], "z");
  EXPECT_TRUE(spec->wordpiece().lowercase && spec->wordpiece().strip_accents);
  EXPECT_EQ(spec->added_tokens.size(), 5u);
  EXPECT_FALSE(spec->max_tokens.has_value());
}

TEST_F(TokenizerFolder, ConfigSaysTheCase) {
  write("vocab.txt", vocab_);
  write("tokenizer_config.json",
        R"({"do_lower_case": false, "tokenize_chinese_chars": false, "model_max_length": 9})");
  EXPECT_FALSE(read()->wordpiece().lowercase);
  EXPECT_FALSE(read()->wordpiece().strip_accents);
  EXPECT_FALSE(read()->wordpiece().split_cjk);
  write("tokenizer_config.json", R"({"do_lower_case": false, "strip_accents": true})");
  EXPECT_TRUE(read()->wordpiece().strip_accents);
  // Over tokenizer.json, with a warning; what it does not say stays.
  EXPECT_TRUE(warnings_.empty());
  write("tokenizer.json", small_json().dump());
  EXPECT_FALSE(read()->wordpiece().lowercase);
  EXPECT_TRUE(read()->wordpiece().split_cjk);
  EXPECT_EQ(warnings_.size(), 2u);
  write("tokenizer_config.json", R"({"strip_accents": null, "mask_token": {"content": "a"}})");
  EXPECT_TRUE(read()->wordpiece().strip_accents);
  EXPECT_EQ(read()->mask_id, 5u);
  EXPECT_EQ(warnings_.size(), 2u);
}

TEST_F(TokenizerFolder, AnotherLetterCaseHasItsAccents) {
  // tokenizer.json strips accents because it lowercases; without lower case they stay, as in
  // transformers, whose class then takes a missing strip_accents for null.
  write("tokenizer.json", small_json().dump());
  write("tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_FALSE(read()->wordpiece().strip_accents);
  write("tokenizer_config.json", R"({"do_lower_case": false, "strip_accents": true})");
  EXPECT_TRUE(read()->wordpiece().strip_accents);
  write("tokenizer_config.json", R"({"do_lower_case": true})");
  EXPECT_TRUE(read()->wordpiece().strip_accents);
  Json cased = small_json();
  cased["normalizer"]["lowercase"] = false;
  write("tokenizer.json", cased.dump());
  EXPECT_TRUE(read()->wordpiece().strip_accents);
  write("tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_FALSE(read()->wordpiece().strip_accents);
}

// The classes of BERT rebuild the normaliser with their own settings or defaults; the general class
// reads none of them.
TEST_F(TokenizerFolder, TheClassDecidesWhoSaysTheCase) {
  Json json = small_json();
  json["normalizer"]["lowercase"] = true;
  json["normalizer"]["strip_accents"] = false;
  write("tokenizer.json", json.dump());
  write("tokenizer_config.json", R"({"tokenizer_class": "BertTokenizer", "do_lower_case": true})");
  EXPECT_TRUE(read()->wordpiece().strip_accents);
  EXPECT_EQ(warnings_.size(), 1u);
  write("tokenizer_config.json",
        R"({"tokenizer_class": "PreTrainedTokenizerFast", "do_lower_case": false})");
  EXPECT_TRUE(read()->wordpiece().lowercase);
  EXPECT_FALSE(read()->wordpiece().strip_accents);
  json["normalizer"]["lowercase"] = false;
  write("tokenizer.json", json.dump());
  write("tokenizer_config.json", R"({"tokenizer_class": "MPNetTokenizerFast"})");
  EXPECT_TRUE(read()->wordpiece().lowercase);
  write("tokenizer_config.json", "{}");
  EXPECT_FALSE(read()->wordpiece().lowercase);
}

// transformers searches texts for every special token that a file names, whatever tokenizer.json or
// the vocabulary's file says of it.
TEST_F(TokenizerFolder, SpecialTokensThatTheConfigNames) {
  write("vocab.txt", vocab_);
  const std::string map = "special_tokens_map.json", config = "tokenizer_config.json";
  write(map, R"({"additional_special_tokens": ["a"]})");
  const std::size_t before = read()->added_tokens.size();
  EXPECT_EQ(before, 6u);
  EXPECT_TRUE(warnings_.empty());
  // A list of tokenizer_config.json takes its place, with flags.
  write(config, R"({"additional_special_tokens": [{"content": "[MASK]", "lstrip": true}],
                    "mask_token": {"content": "[MASK]", "rstrip": true}})");
  const auto with_flags = read();
  EXPECT_EQ(with_flags->added_tokens.size(), 5u);
  EXPECT_TRUE(with_flags->added_tokens.back().strip_right);
  EXPECT_FALSE(with_flags->added_tokens.back().strip_left);
  write(config, R"({"additional_special_tokens": ["none"]})");
  EXPECT_TRUE(read().has_value());
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_EQ(warnings_[0],
            "special token \"none\" has no id in the vocabulary; in a text it is cut as other "
            "words are");
  write(config, R"({"additional_special_tokens": "a"})");
  EXPECT_EQ(error(),
            "tokenizer_config.json: \"additional_special_tokens\" must be a list of tokens, found "
            "\"a\"");
  // tokenizer.json without its list of added tokens.
  Json json = small_json();
  json["added_tokens"] = Json::array();
  write("tokenizer.json", json.dump());
  std::filesystem::remove(folder_ / map);
  write(config, R"({"mask_token": "[MASK]"})");
  EXPECT_EQ(read()->added_tokens.size(), 1u);
  write(config, R"({"added_tokens_decoder": {"4": {"content": "[MASK]", "special": true}}})");
  EXPECT_EQ(read()->added_tokens.size(), 1u);
}

TEST_F(TokenizerFolder, TextsAreCutAtTheRight) {
  write("vocab.txt", vocab_);
  write("tokenizer_config.json", R"({"truncation_side": "right"})");
  EXPECT_TRUE(read().has_value());
  write("tokenizer_config.json", R"({"truncation_side": "left"})");
  EXPECT_EQ(
      error(),
      "tokenizer_config.json: truncation_side \"left\" is not supported; embert cuts texts at "
      "the right");
}

TEST_F(TokenizerFolder, ClassesThatReadAVocabularyFile) {
  write("vocab.txt", vocab_);
  const auto pair_of = [&](const std::string& name) {
    write("tokenizer_config.json", R"({"tokenizer_class": ")" + name + "\"}");
    return read()->pair.size();
  };
  for (const char* name : {"BertTokenizer", "BertTokenizerFast", "DistilBertTokenizer",
                           "ElectraTokenizerFast", "MobileBertTokenizer"}) {
    EXPECT_EQ(pair_of(name), 5u) << name;
  }
  EXPECT_EQ(pair_of("MPNetTokenizer"), 6u);
  EXPECT_EQ(read()->pair[2].token_id, *read()->sep_id);
  EXPECT_EQ(read()->pair[3].token_id, *read()->sep_id);
  const std::string message =
      " is not supported with it; embert reads BertTokenizer, DistilBertTokenizer, "
      "ElectraTokenizer, MobileBertTokenizer and MPNetTokenizer from this file, and others from "
      "tokenizer.json";
  write("tokenizer_config.json", R"({"tokenizer_class": "BertJapaneseTokenizer"})");
  EXPECT_EQ(error(), "vocab.txt: tokenizer_class \"BertJapaneseTokenizer\"" + message);
  // Without a class in tokenizer_config.json, config.json has one, or the model's type.
  write("tokenizer_config.json", "{}");
  write("config.json", R"({"model_type": "roberta", "tokenizer_class": "PhobertTokenizer"})");
  EXPECT_EQ(error(), "vocab.txt: tokenizer_class \"PhobertTokenizer\"" + message);
  write("config.json", R"({"model_type": "mpnet"})");
  EXPECT_EQ(read()->pair.size(), 6u);
  write("config.json", R"({"model_type": "bert"})");
  EXPECT_EQ(read()->pair.size(), 5u);
}

TEST_F(TokenizerFolder, AddedTokensOfTheConfig) {
  write("vocab.txt", vocab_);
  write("tokenizer_config.json",
        R"({"added_tokens_decoder": {"4": {"content": "[MASK]", "special": true, "lstrip": true},
                                     "7": {"content": "new", "special": false}}})");
  const auto spec = read();
  EXPECT_EQ(TestTokenizer(*spec).strings("a [MASK] NEWa"), "a [MASK] new a");
  EXPECT_EQ(spec->added_tokens.size(), 6u);  // and the other special tokens, as in transformers
  write("tokenizer_config.json", R"({"added_tokens_decoder": {}})");
  EXPECT_EQ(TestTokenizer(*read()).strings("a [MASK] a"), "a [MASK] a");
  write("tokenizer_config.json", R"({"added_tokens_decoder": {"9": {"content": "new"}}})");
  EXPECT_EQ(error(),
            "tokenizer_config.json: added token \"new\" has id 9, but no token has id 7; ids must "
            "have no holes");
  write("tokenizer_config.json", R"({"added_tokens_decoder": {"3": {"content": "new"}}})");
  EXPECT_EQ(
      error(),
      "tokenizer_config.json: added token \"new\" has id 3, which is \"[SEP]\" in the vocabulary");
  write("tokenizer_config.json", R"({"added_tokens_decoder": {"7": {"content": "a"}}})");
  EXPECT_EQ(error(),
            "tokenizer_config.json: added token \"a\" has id 7, but the vocabulary has it as 5; "
            "tokens must differ");
  write("tokenizer_config.json", R"({"added_tokens_decoder": [1]})");
  EXPECT_EQ(error(), "tokenizer_config.json: \"added_tokens_decoder\" must be an object");
  write("tokenizer_config.json", R"({"added_tokens_decoder": {"seven": {"content": "new"}}})");
  EXPECT_EQ(error(),
            "tokenizer_config.json: added_tokens_decoder: \"seven\" is no token id with a token");
  write("tokenizer_config.json", "{}");
  write("added_tokens.json", R"({"new": 7})");
  EXPECT_EQ(error(),
            "added_tokens.json: not supported without tokenizer.json; load the folder with "
            "transformers and save it "
            "again");
}

TEST_F(TokenizerFolder, BrokenVocabularies) {
  write("vocab.txt", vocab_ + "a\n");
  EXPECT_EQ(error(), "vocab.txt: line 8: token \"a\" stands in line 6 already; tokens must differ");
  write("vocab.txt", vocab_ + "\xff\n");
  EXPECT_EQ(error(), "vocab.txt: line 8 is not UTF-8: \"?\"");
  write("vocab.txt", "");
  EXPECT_EQ(error(), "vocab.txt: no tokens; expected one a line");
  write("vocab.txt", "a\nb\n");
  EXPECT_EQ(error(), "vocab.txt: token \"[UNK]\" is missing");
  write("vocab.txt", vocab_);
  write("special_tokens_map.json", R"({"sep_token": "</s>"})");
  EXPECT_EQ(error(), "vocab.txt: token \"</s>\" is missing");
}

TEST_F(TokenizerFolder, FilesThatCanNotBeRead) {
  std::filesystem::create_directories(folder_ / "vocab.txt");
  EXPECT_EQ(error(), "vocab.txt: is not a regular file");
  std::filesystem::remove(folder_ / "vocab.txt");
  write("vocab.txt", "");
  std::filesystem::resize_file(folder_ / "vocab.txt", (64 << 20) + 1);  // takes no room on the disk
  EXPECT_EQ(error(), "vocab.txt: 67108865 bytes; at most 67108864 are read");
  write("spiece.model", "");
  write("tokenizer_config.json", R"({"tokenizer_class": "T5Tokenizer"})");
  EXPECT_EQ(error(),
            "spiece.model: tokenizer_class \"T5Tokenizer\" is not supported; embert reads "
            "AlbertTokenizer from this file");
}

// Empty lines stand in vocabularies that people made by hand. The package tokenizers gives these
// ids, too: no word matches an empty entry, nor the prefix alone.
TEST_F(TokenizerFolder, EmptyEntriesMatchNothing) {
  write("vocab.txt", vocab_ + "\n##\n#\n");
  const TestTokenizer tokenizer(*read());
  using Ids = std::vector<std::int32_t>;
  EXPECT_EQ(tokenizer.encode("", kPlain).ids, Ids());
  EXPECT_EQ(tokenizer.encode("ab", kPlain).ids, (Ids{5, 6}));
  EXPECT_EQ(tokenizer.encode("abb a", kPlain).ids, (Ids{5, 6, 6, 5}));
  EXPECT_EQ(tokenizer.encode("ax", kPlain).ids, Ids{1});
  EXPECT_EQ(tokenizer.encode("## a#", kPlain).ids, (Ids{9, 9, 5, 9}));
  EXPECT_EQ(tokenizer.encode("a ##b", kPlain).ids, (Ids{5, 9, 9, 1}));
}

TEST(TokenTable, HasARoomForIds) {
  convert::TokenTable table("t.json");
  table.add("a", kMaxTokenizerTokens - 1, true);
  EXPECT_EQ(error_text([&] { table.add("b", kMaxTokenizerTokens, true); }),
            "t.json: more than 1048576 tokens");
}

TEST(TokenizerSectionWriter, Limits) {
  const auto error_with = [](const std::function<void(TokenizerSpec*)>& change) {
    TokenizerSpec spec = small_spec();
    change(&spec);
    return error_text([&] { convert::write_tokenizer_section(spec); });
  };
  EXPECT_EQ(error_with([](TokenizerSpec*) {}), "no error");
  EXPECT_EQ(error_with([](TokenizerSpec* s) { s->tokens[5] = std::string(255, 'a'); }), "no error");
  const std::string long_token =
      error_with([](TokenizerSpec* s) { s->tokens[5] = std::string(256, 'a'); });
  EXPECT_NE(long_token.find("has 256 bytes, at most 255 are supported"), std::string::npos)
      << long_token;
  EXPECT_EQ(error_with([](TokenizerSpec* s) { s->wordpiece().max_word_chars = 201; }),
            "tokenizer: max_input_chars_per_word is 201, 1 to 200 are supported");
  EXPECT_EQ(error_with([](TokenizerSpec* s) { s->single.resize(9); }),
            "tokenizer: the template has 9 pieces, at most 8 are supported");
  const std::string accents = error_with([](TokenizerSpec* s) {
    s->added_tokens.push_back({.content = "\u00e9", .id = 5, .normalized = true});
  });
  EXPECT_NE(accents.find("is \"normalized\" and not ASCII"), std::string::npos) << accents;
  EXPECT_EQ(error_with([](TokenizerSpec* s) { s->tokens.clear(); }),
            "tokenizer: 0 tokens, 1 to 1048576 are supported");
  EXPECT_EQ(error_with([](TokenizerSpec* s) { s->pair[0].type_id = 256; }),
            "tokenizer: type_id 256 in the template, at most 255 is supported");
  EXPECT_EQ(error_with([](TokenizerSpec* s) { s->wordpiece().continuing_prefix.assign(17, '#'); }),
            "tokenizer: continuing_subword_prefix \"#################\" is longer than 16 bytes");
  EXPECT_EQ(error_with([](TokenizerSpec* s) { s->added_tokens.resize(65537); }),
            "tokenizer: 65537 added tokens, at most 65536 are supported");
  EXPECT_EQ(error_with([](TokenizerSpec* s) {
              s->added_tokens.push_back({.content = "\x01", .id = 5, .normalized = true});
            }),
            "tokenizer: an added token is empty after normalisation");
  EXPECT_EQ(error_with([](TokenizerSpec* s) {
              s->added_tokens.push_back({.content = std::string(256, 'a'), .id = 5});
            }),
            "tokenizer: added token \"" + std::string(40, 'a') + "...\" has more than 255 bytes");
  // Strings of BPE may have twice as many bytes, and a block of 256 strings holds 65,535.
  TokenizerSpec long_strings = small_byte_level_spec({});
  while (long_strings.tokens.size() < 512) {
    const std::string number = std::to_string(long_strings.tokens.size());
    long_strings.tokens.push_back(number + std::string(400, 'x'));
    long_strings.in_vocabulary.push_back(true);
  }
  const std::string block = error_text([&] { convert::write_tokenizer_section(long_strings); });
  EXPECT_TRUE(block.starts_with("tokenizer: the tokens from 256 to ") &&
              block.ends_with(" bytes, at most 65535 can be stored"))
      << block;
}

TEST(TokenizerFiles, SharedModelsAgreeInBothForms) {
  EMBERT_NEED_SHARED_DIR();
  for (const char* name : {"tiny-intent", "tiny-embed"}) {
    const std::filesystem::path folder = std::filesystem::path(shared_dir()) / "models" / name;
    std::vector<std::string> warnings;
    const auto spec = convert::read_tokenizer(folder, warnings);
    ASSERT_TRUE(spec.has_value());
    EXPECT_TRUE(warnings.empty());
    const auto from_vocabulary = convert::read_vocabulary(folder / "vocab.txt", {});
    const TestTokenizer json(*spec);
    const TestTokenizer plain(from_vocabulary);
    for (const char* text :
         {"what is my credit score?", "Z\u00fcrich [MASK] weather", "\u4f60\u597d"}) {
      EXPECT_EQ(json.encode(text, kWithSpecials).ids, plain.encode(text, kWithSpecials).ids);
    }
  }
}

}  // namespace
}  // namespace embert::test
