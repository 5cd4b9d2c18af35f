// SPDX-License-Identifier: Apache-2.0
// Tokenizers of the families beside BERT against what the package tokenizers gives: texts, calls,
// every code point, whole corpora (shared/reference/tokenizer_families).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/tokenizer/utf8.hpp"
#include "tests/runtime/tokenizer/corpora.hpp"
#include "tests/runtime/tokenizer/tokenizer_harness.hpp"

namespace embert::test {
namespace {

using Json = nlohmann::json;

std::string families_dir() { return shared_dir() + "/reference/tokenizer_families/"; }

// The folder gpt2 has the vocabulary in OpenAI's two files beside a tokenizer.json without it.
std::string tokenizer_json(const std::string& name) {
  const std::string folder = families_dir() + name + "/";
  if (name != "gpt2") return read_file(folder + "tokenizer.json");
  Json root = Json::parse(read_file(folder + "tokenizer_without_vocabulary.json"));
  root["model"]["vocab"] = Json::parse(read_file(folder + "encoder.json"));
  root["model"]["merges"] = Json::array();
  for (const std::string& line : split_at(read_file(folder + "vocab.bpe"), '\n')) {
    if (line.rfind("#version", 0) != 0) root["model"]["merges"].push_back(line);
  }
  return root.dump();
}

const TestTokenizer& family_tokenizer(const std::string& name) {
  static std::map<std::string, std::unique_ptr<TestTokenizer>> made;
  std::unique_ptr<TestTokenizer>& slot = made[name];
  if (slot == nullptr) {
    slot = std::make_unique<TestTokenizer>(
        convert::parse_tokenizer_json(tokenizer_json(name), "tokenizer.json"));
  }
  return *slot;
}

const std::vector<std::string>& family_texts() {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> out;
    std::istringstream lines(read_file(families_dir() + "texts.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      out.push_back(Json::parse(line)["text"].get<std::string>());
    }
    return out;
  }();
  return texts;
}

class FamilyTokenizer : public testing::TestWithParam<const char*> {};

// The checksums of the reference: of ids, and of offsets in code points.
struct Checksum {
  std::uint32_t ids = 0, offsets = 0;
  std::size_t count = 0;

  void add(const Tokens& tokens) {
    ids = crc32_of_ids(ids, tokens.ids);
    const std::uint32_t number = static_cast<std::uint32_t>(tokens.ids.size());
    offsets = crc32(offsets, &number, sizeof(number));
    offsets = crc32(offsets, tokens.char_offsets.data(),
                    tokens.char_offsets.size() * sizeof(std::uint32_t));
    count += number;
  }
  std::string text() const {
    char out[64];
    std::snprintf(out, sizeof(out), "%zu\t%08x\t%08x", count, ids, offsets);
    return out;
  }
};

embert_truncation truncation_named(const std::string& name) {
  if (name == "longest_first") return EMBERT_TRUNCATION_LONGEST_FIRST;
  if (name == "only_first") return EMBERT_TRUNCATION_ONLY_FIRST;
  if (name == "only_second") return EMBERT_TRUNCATION_ONLY_SECOND;
  EXPECT_EQ(name, "do_not_truncate");
  return EMBERT_TRUNCATION_NONE;
}

void expect_encoding(const Json& expected, const Tokens& actual, const std::string& where) {
  ASSERT_EQ(actual.status, TokenizerStatus::kOk) << where;
  ASSERT_EQ(expected["ids"].get<std::vector<std::int32_t>>(), actual.ids) << where;
  ASSERT_EQ(expected["offsets_char"].get<std::vector<std::uint32_t>>(), actual.char_offsets)
      << where;
  const std::pair<const char*, const std::vector<std::int32_t>*> further[] = {
      {"word_ids", &actual.word_ids},
      {"type_ids", &actual.type_ids},
      {"sequence_ids", &actual.sequence_ids}};
  for (const auto& [key, values] : further) {
    if (expected.contains(key)) {
      ASSERT_EQ(expected[key].get<std::vector<std::int32_t>>(), *values) << where << " " << key;
    }
  }
}

bool has_unigram(const TestTokenizer& tokenizer) {
  return tokenizer.view().header->model == static_cast<std::uint32_t>(TokenizerModel::kUnigram);
}

TEST_P(FamilyTokenizer, TextsAndCalls) {
  EMBERT_NEED_SHARED_DIR();
  const TestTokenizer& tokenizer = family_tokenizer(GetParam());
  const std::vector<std::string>& texts = family_texts();
  std::istringstream lines(read_file(families_dir() + GetParam() + "/cases.jsonl"));
  int plain = 0, calls = 0, errors = 0, windows = 0;
  for (std::string line; std::getline(lines, line) && !HasFatalFailure();) {
    const Json c = Json::parse(line);
    const std::string text = texts[c["text"].get<std::size_t>()];
    std::string where = std::string(GetParam()) + " " + line.substr(0, 120) + " " + text;
    if (!c.contains("pair")) {
      const Tokens actual = tokenizer.encode(text, kWithSpecials);
      expect_encoding(c, actual, where);
      ASSERT_TRUE(has_same_offsets(text, actual)) << where;
      ++plain;
      continue;
    }
    ++calls;
    std::optional<std::string> pair;
    if (!c["pair"].is_null()) pair = texts[c["pair"].get<std::size_t>()];
    embert_tokenize_options options = {};
    options.max_tokens = c["max_length"].is_null() ? 0 : c["max_length"].get<std::int32_t>();
    options.truncation = truncation_named(c["truncation"].get<std::string>());
    options.stride = c["stride"].get<std::int32_t>();
    options.add_special_tokens = c["add_special_tokens"].get<bool>() ? 1 : 0;
    if (c.contains("error")) {
      ++errors;
      const bool stride = c["error"].get<std::string>().find("stride") != std::string::npos;
      EXPECT_EQ(tokenizer.encode(text, options, pair).status,
                stride ? TokenizerStatus::kStrideTooLarge : TokenizerStatus::kSequenceTooShort)
          << where << c["error"];
      continue;
    }
    const Tokens first = tokenizer.encode(text, options, pair);
    expect_encoding(c, first, where);
    const std::uint32_t further = static_cast<std::uint32_t>(c["overflow"].size());
    EXPECT_EQ(first.windows, further + 1) << where;
    for (std::uint32_t i = 0; i < further; ++i, ++windows) {
      options.window = i + 1;
      Json window = c["overflow"][i];
      // In further windows the package leaves the type ids 0 and 1 where the template has other
      // ones, as Unigram's have it, and without special tokens always.
      if (options.add_special_tokens == 0 || has_unigram(tokenizer)) window.erase("type_ids");
      expect_encoding(window, tokenizer.encode(text, options, pair),
                      where + " window " + std::to_string(i + 1));
    }
  }
  EXPECT_EQ(plain, static_cast<int>(texts.size()));
  EXPECT_EQ(calls, 460);
  EXPECT_GT(errors, 15);
  EXPECT_GT(windows, 300);
}

TEST_P(FamilyTokenizer, EveryCodePoint) {
  EMBERT_NEED_SHARED_DIR();
  const TestTokenizer& tokenizer = family_tokenizer(GetParam());
  std::istringstream table(read_file(families_dir() + GetParam() + "/codepoints.tsv"));
  int rows = 0;
  Checksum whole;
  for (std::string line; std::getline(table, line);) {
    const std::vector<std::string> f = split_at(line, '\t');
    if (line[0] == '#' || f[0] == "tokenizer") continue;
    const std::string expected = f[3] + "\t" + f[4] + "\t" + f[5];
    ++rows;
    if (f[1] == "all") {
      EXPECT_EQ(whole.text(), expected);
      continue;
    }
    const auto block = static_cast<std::uint32_t>(std::stoul(f[1], nullptr, 16));
    Checksum checksum;
    for (std::uint32_t cp = block << 12; cp < (block + 1) << 12; ++cp) {
      if (cp >= 0xD800 && cp < 0xE000) continue;
      std::uint8_t text[6] = {'a'};
      const std::uint32_t bytes = encode_utf8(cp, text + 1);
      text[1 + bytes] = 'b';
      const Tokens tokens =
          tokenizer.encode({reinterpret_cast<const char*>(text), bytes + 2}, kPlain);
      checksum.add(tokens);
      whole.add(tokens);
    }
    EXPECT_EQ(checksum.text(), expected) << "block " << f[1];
  }
  EXPECT_EQ(rows, 273);
}

TEST_P(FamilyTokenizer, Corpora) {
  EMBERT_NEED_SHARED_DIR();
  const TestTokenizer& tokenizer = family_tokenizer(GetParam());
  static std::map<std::string, std::vector<std::string>> corpora;
  std::istringstream table(read_file(families_dir() + GetParam() + "/corpus_crc.tsv"));
  std::size_t lines = 0;
  for (std::string line; std::getline(table, line);) {
    const std::vector<std::string> f = split_at(line, '\t');
    if (line[0] == '#' || f[0] == "tokenizer" || f[3] == "all") continue;
    if (corpora.count(f[1]) == 0)
      corpora[f[1]] = corpus_lines(read_file(shared_dir() + "/data/" + f[1]), f[2]);
    const std::size_t to = std::stoul(f[3].substr(f[3].find(':') + 1));
    ASSERT_LE(to, corpora[f[1]].size()) << line;
    Checksum checksum;
    for (std::size_t i = std::stoul(f[3]); i < to; ++i, ++lines) {
      checksum.add(tokenizer.encode(corpora[f[1]][i], kPlain));
    }
    EXPECT_EQ(checksum.text(), f[5] + "\t" + f[6] + "\t" + f[7]) << line;
  }
  EXPECT_EQ(lines, 76491u);
}

// roberta has both forms; gpt2's two files have other names.
TEST(FamilyTokenizerFiles, VocabAndMergesGiveTheSameSection) {
  EMBERT_NEED_SHARED_DIR();
  const std::filesystem::path folder = testing::TempDir() + "/vocab_merges";
  const std::map<std::string, std::string> names = {{"roberta/vocab.json", "vocab.json"},
                                                    {"roberta/merges.txt", "merges.txt"},
                                                    {"gpt2/encoder.json", "vocab.json"},
                                                    {"gpt2/vocab.bpe", "merges.txt"}};
  for (const std::string name : {"roberta", "gpt2"}) {
    for (const bool with_settings : {true, false}) {
      std::filesystem::remove_all(folder);
      std::filesystem::create_directories(folder);
      for (const auto& [from, to] : names) {
        if (from.rfind(name, 0) == 0)
          std::filesystem::copy_file(families_dir() + from, folder / to);
      }
      if (with_settings && name == "roberta") {
        for (const char* file : {"tokenizer_config.json", "special_tokens_map.json"})
          std::filesystem::copy_file(families_dir() + "roberta/" + file, folder / file);
      } else {
        std::ofstream(folder / "config.json") << "{\"model_type\": \"" << name << "\"}";
      }
      std::vector<std::string> warnings;
      const auto spec = convert::read_tokenizer(folder, warnings);
      ASSERT_TRUE(spec.has_value());
      EXPECT_EQ(convert::write_tokenizer_section(*spec),
                convert::write_tokenizer_section(
                    convert::parse_tokenizer_json(tokenizer_json(name), "tokenizer.json")))
          << name;
      EXPECT_TRUE(warnings.empty());
    }
  }
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Families, FamilyTokenizer,
                         testing::Values("roberta", "roberta_prefix", "modernbert", "gpt2", "xlmr",
                                         "xlmr_metaspace", "xlmr_converted", "albert",
                                         "albert_converted", "byte_fallback", "mpnet"));

}  // namespace
}  // namespace embert::test
