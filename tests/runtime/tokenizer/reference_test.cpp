// SPDX-License-Identifier: Apache-2.0
// The tokenizer against what Hugging Face's gives: every code point, 3658 cases, other projects'
// vectors.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/tokenizer/wordpiece/text_stream.hpp"
#include "tests/runtime/tokenizer/tokenizer_harness.hpp"

namespace embert::test {
namespace {

using Json = nlohmann::json;

TEST(TokenizerReference, EveryCodePointInEverySetting) {
  EMBERT_NEED_SHARED_DIR();
  std::istringstream table(read_file(shared_dir() + "/reference/tokenizer/codepoints.tsv"));
  std::map<std::string, std::map<std::string, std::string>> expected;
  for (std::string line; std::getline(table, line);) {
    std::istringstream fields(line);
    std::string setting, block, code_points, ids, crc;
    fields >> setting >> block >> code_points >> ids >> crc;
    if (line[0] != '#' && setting != "setting") expected[setting][block] = ids + " " + crc;
  }
  int rows = 0;
  for (const std::string& setting : reference_settings()) {
    const TestTokenizer& tokenizer = reference_tokenizer(setting);
    ASSERT_FALSE(expected[setting].empty()) << setting;
    std::vector<std::int32_t> ids;
    std::uint32_t whole_crc = 0;
    std::size_t whole_count = 0;
    for (std::uint32_t block = 0; block < 0x110; ++block) {
      std::uint32_t crc = 0;
      std::size_t count = 0;
      for (std::uint32_t cp = block << 12; cp < (block + 1) << 12; ++cp) {
        if (cp >= 0xD800 && cp < 0xE000) continue;
        std::uint8_t text[6] = {'a'};
        const std::uint32_t bytes = encode_utf8(cp, text + 1);
        text[1 + bytes] = 'b';
        tokenizer.ids({reinterpret_cast<const char*>(text), bytes + 2}, &ids);
        crc = crc32_of_ids(crc, ids);
        whole_crc = crc32_of_ids(whole_crc, ids);
        count += ids.size();
      }
      whole_count += count;
      char name[8], value[32];
      std::snprintf(name, sizeof(name), "%03X", block);
      std::snprintf(value, sizeof(value), "%zu %08x", count, crc);
      const auto row = expected[setting].find(name);
      if (row == expected[setting].end()) continue;  // D is all surrogates but for its first half
      EXPECT_EQ(row->second, value) << setting << " block " << name;
      ++rows;
    }
    char value[32];
    std::snprintf(value, sizeof(value), "%zu %08x", whole_count, whole_crc);
    EXPECT_EQ(expected[setting]["all"], value) << setting;
  }
  EXPECT_GE(rows, 15 * 271);
}

embert_truncation truncation_of(const std::string& name) {
  if (name == "longest_first") return EMBERT_TRUNCATION_LONGEST_FIRST;
  if (name == "only_first") return EMBERT_TRUNCATION_ONLY_FIRST;
  if (name == "only_second") return EMBERT_TRUNCATION_ONLY_SECOND;
  EXPECT_EQ(name, "do_not_truncate");
  return EMBERT_TRUNCATION_NONE;
}

void expect_window(const Json& expected, const Tokens& actual, bool is_pair,
                   const std::string& where) {
  ASSERT_EQ(actual.status, TokenizerStatus::kOk) << where;
  EXPECT_EQ(expected["ids"].get<std::vector<std::int32_t>>(), actual.ids) << where;
  EXPECT_EQ(expected["type_ids"].get<std::vector<std::int32_t>>(), actual.type_ids) << where;
  EXPECT_EQ(expected["offsets_char"].get<std::vector<std::uint32_t>>(), actual.char_offsets)
      << where;
  EXPECT_EQ(expected["offsets_byte"].get<std::vector<std::uint32_t>>(), actual.byte_offsets)
      << where;
  EXPECT_EQ(expected["word_ids"].get<std::vector<std::int32_t>>(), actual.word_ids) << where;
  std::vector<std::int32_t> special;
  for (const std::int32_t id : actual.sequence_ids) special.push_back(id < 0 ? 1 : 0);
  EXPECT_EQ(expected["special_tokens_mask"].get<std::vector<std::int32_t>>(), special) << where;
  if (is_pair && expected.contains("sequence_ids")) {
    EXPECT_EQ(expected["sequence_ids"].get<std::vector<std::int32_t>>(), actual.sequence_ids)
        << where;
  }
}

TEST(TokenizerReference, Cases) {
  EMBERT_NEED_SHARED_DIR();
  std::istringstream lines(read_file(shared_dir() + "/reference/tokenizer/cases.jsonl"));
  int cases = 0, errors = 0, windows = 0;
  for (std::string line; std::getline(lines, line); ++cases) {
    const Json c = Json::parse(line);
    const Json& strip = c["setting"]["strip_accents"];
    const std::string setting = c["vocab"].get<std::string>() +
                                (c["setting"]["lowercase"].get<bool>() ? ":lower:" : ":keep:") +
                                (strip.is_null()     ? "unset"
                                 : strip.get<bool>() ? "true"
                                                     : "false");
    const TestTokenizer& tokenizer = reference_tokenizer(setting);
    const std::string where =
        "case " + c["id"].dump() + " " + c["group"].get<std::string>() + " " + setting;
    const std::string text = c["text"].get<std::string>();
    // transformers, which made the cases, takes an empty second text for none.
    const bool is_pair = !c["pair"].is_null() && !c["pair"].get<std::string>().empty();
    const std::optional<std::string> pair =
        is_pair ? std::optional<std::string>(c["pair"].get<std::string>()) : std::nullopt;
    embert_tokenize_options options = {};
    options.max_tokens = c["max_length"].is_null() ? 0 : c["max_length"].get<std::int32_t>();
    options.truncation = truncation_of(c["truncation"].get<std::string>());
    options.stride = c["stride"].get<std::int32_t>();
    options.add_special_tokens = c["add_special_tokens"].get<bool>() ? 1 : 0;
    if (c.contains("error")) {
      ++errors;
      const bool stride = c["error"].get<std::string>().find("stride") != std::string::npos;
      const TokenizerStatus expected =
          stride ? TokenizerStatus::kStrideTooLarge : TokenizerStatus::kSequenceTooShort;
      EXPECT_EQ(tokenizer.encode(text, options, pair).status, expected) << where << c["error"];
      continue;
    }
    const Tokens first = tokenizer.encode(text, options, pair);
    expect_window(c, first, is_pair, where);
    const std::uint32_t further = static_cast<std::uint32_t>(c["overflow"].size());
    EXPECT_EQ(first.windows, further + 1) << where;
    for (std::uint32_t i = 0; i < further; ++i, ++windows) {
      options.window = i + 1;
      const Tokens window = tokenizer.encode(text, options, pair);
      expect_window(c["overflow"][i], window, is_pair, where + " window " + std::to_string(i + 1));
    }
    options.window = further + 1;
    EXPECT_EQ(tokenizer.encode(text, options, pair).status, TokenizerStatus::kWindowOutOfRange)
        << where;
    if (HasFailure()) break;
  }
  EXPECT_EQ(cases, 3658);
  EXPECT_EQ(errors, 132);
  EXPECT_GT(windows, 1000);
}

TEST(TokenizerReference, Tutorial) {
  EMBERT_NEED_SHARED_DIR();
  const Json c = Json::parse(read_file(shared_dir() + "/reference/tokenizer/tutorial.json"));
  const TestTokenizer& tokenizer = reference_tokenizer("uncased:lower:unset");
  const std::string text = c["text"].get<std::string>();
  std::vector<std::int32_t> ids;
  tokenizer.ids(text, &ids);
  EXPECT_EQ(ids, c["ids_without_special_tokens"].get<std::vector<std::int32_t>>());
  EXPECT_EQ(tokenizer.encode(text, kWithSpecials).ids, c["ids"].get<std::vector<std::int32_t>>());
  EXPECT_EQ(tokenizer.strings(text), "time flies like an arrow");
}

TEST(TokenizerReference, SwiftQuestions) {
  EMBERT_NEED_SHARED_DIR();
  const std::string folder = shared_dir() + "/data/tokenizer/tokenizer_vectors/";
  const Json texts = Json::parse(read_file(folder + "swift_question_tokens.json"));
  const Json ids = Json::parse(read_file(folder + "swift_tokenized_questions.json"));
  const TestTokenizer& tokenizer = reference_tokenizer("uncased:lower:unset");
  ASSERT_EQ(texts.size(), ids.size());
  std::vector<std::int32_t> actual;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string text = texts[i]["original"].get<std::string>();
    tokenizer.ids(text, &actual);
    ASSERT_EQ(actual, ids[i].get<std::vector<std::int32_t>>()) << text;
    std::string pieces;
    for (const Json& piece : texts[i]["wordpiece"]) {
      if (!pieces.empty()) pieces += ' ';
      pieces += piece.get<std::string>();
    }
    ASSERT_EQ(tokenizer.strings(text), pieces) << text;
  }
}

TEST(TokenizerReference, TransformersJs) {
  EMBERT_NEED_SHARED_DIR();
  const Json all = Json::parse(
      read_file(shared_dir() + "/data/tokenizer/tokenizer_vectors/transformersjs_vectors.json"));
  const std::map<std::string, std::string> settings = {
      {"Xenova/bert-base-uncased", "uncased:lower:unset"},
      {"Xenova/bert-base-cased", "cased:keep:unset"},
      {"Xenova/bert-base-multilingual-cased", "multilingual-cased:keep:unset"},
      {"Xenova/bert-base-chinese", "chinese:keep:unset"},
  };
  std::map<std::string, int> left_out;
  int checked = 0;
  for (const Json& c : all) {
    const auto setting = settings.find(c["model"].get<std::string>());
    if (setting == settings.end()) {
      ++left_out[c["model"].get<std::string>()];
      continue;
    }
    const TestTokenizer& tokenizer = reference_tokenizer(setting->second);
    const Json& pair = c["text_pair"];
    const Tokens tokens = tokenizer.encode(
        c["text"].get<std::string>(), kWithSpecials,
        pair.is_null() ? std::nullopt : std::optional<std::string>(pair.get<std::string>()));
    EXPECT_EQ(tokens.ids, c["ids"].get<std::vector<std::int32_t>>()) << c["model"] << c["name"];
    ++checked;
  }
  for (const auto& [model, count] : left_out)
    std::printf("left out, no such vocabulary: %s (%d)\n", model.c_str(), count);
  std::printf("checked %d\n", checked);
  EXPECT_GT(checked, 0);
}

TEST(TokenizerReference, LlamaCpp) {
  EMBERT_NEED_SHARED_DIR();
  const std::string folder = shared_dir() + "/data/tokenizer/tokenizer_vectors/llamacpp_bert-bge";
  const std::string input = read_file(folder + ".inp");
  std::istringstream output(read_file(folder + ".out"));
  const std::string separator = "\n__ggml_vocab_test__\n";
  const TestTokenizer& tokenizer = reference_tokenizer("uncased:lower:unset");
  int checked = 0;
  for (std::size_t begin = 0; begin < input.size();) {
    std::size_t end = input.find(separator, begin);
    if (end == std::string::npos) end = input.size();
    std::string line;
    if (!std::getline(output, line)) break;
    std::istringstream numbers(line);
    std::vector<std::int32_t> expected, actual;
    for (std::int32_t id; numbers >> id;) expected.push_back(id);
    tokenizer.ids(input.substr(begin, end - begin), &actual);
    EXPECT_EQ(actual, expected) << input.substr(begin, end - begin);
    begin = end + separator.size();
    ++checked;
  }
  EXPECT_GT(checked, 40);
}

}  // namespace
}  // namespace embert::test
