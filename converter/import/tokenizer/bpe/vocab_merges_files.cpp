// SPDX-License-Identifier: Apache-2.0
// Writes the two files as the tokenizer.json that transformers would make of them, and reads that.
#include "converter/import/tokenizer/bpe/vocab_merges_files.hpp"

#include <algorithm>
#include <optional>

#include "converter/convert_error.hpp"
#include "converter/files/read_file.hpp"
#include "converter/import/tokenizer/added_token.hpp"
#include "converter/import/tokenizer/tokenizer_json.hpp"

namespace embert::convert {
namespace {

constexpr std::uint64_t kMostMergesBytes = std::uint64_t{64} << 20;

constexpr const char* kVocabFile = "vocab.json";
constexpr const char* kMergesFile = "merges.txt";
constexpr const char* kConfigFile = "tokenizer_config.json";

enum class TokenizerClass { kRoberta, kGpt2 };

// The class by its name, with or without "Fast"; nothing for others.
std::optional<TokenizerClass> class_named(std::string name) {
  const std::string fast = "Fast";
  if (name.size() > fast.size() && name.ends_with(fast)) name.resize(name.size() - fast.size());
  if (name == "RobertaTokenizer" || name == "BartTokenizer" || name == "LongformerTokenizer") {
    return TokenizerClass::kRoberta;
  }
  if (name == "GPT2Tokenizer") return TokenizerClass::kGpt2;
  return std::nullopt;
}

TokenizerClass class_of(const std::filesystem::path& folder, const JsonFields& config) {
  const std::string name = config.get_string("tokenizer_class", "");
  if (name.empty() && file_exists(folder / "config.json")) {
    const Json model = read_json_file(folder / "config.json", "config.json");
    const std::string type = JsonFields(model, "config.json").get_string("model_type", "");
    if (type == "roberta") return TokenizerClass::kRoberta;
    if (type == "gpt2") return TokenizerClass::kGpt2;
  }
  if (const auto known = class_named(name)) return *known;
  throw ConvertError(std::string(kConfigFile) + ": \"tokenizer_class\" \"" + printable(name, 40) +
                     "\" is not supported with vocab.json and merges.txt; expected "
                     "RobertaTokenizer or GPT2Tokenizer");
}

// The special tokens of a tokenizer by their keys, in the order of their ids.
struct SpecialTokens {
  const Json& vocab;
  const JsonFields& map;
  const JsonFields& config;
  Json added = Json::array();
  std::map<std::string, std::string> content = {};

  // `defaults`: the token where neither file names it.
  void add(const char* key, Json defaults) {
    const Json* named = config.find(key);
    const Json* in_map = map.find(key);
    // special_tokens_map.json has the flags where tokenizer_config.json has the name alone.
    if (in_map != nullptr && (named == nullptr || !named->is_object())) named = in_map;
    if (named != nullptr && named->is_object()) {
      defaults = *named;
    } else if (named != nullptr) {
      const JsonFields& file = named == in_map ? map : config;
      defaults["content"] = file.get_string(key);
    }
    const std::string token = JsonFields(defaults, kConfigFile).get_string("content");
    content[key] = token;
    for (const Json& known : added) {
      if (known["content"] == token) return;
    }
    const auto id = vocab.find(token);
    if (id == vocab.end()) {
      throw ConvertError(std::string(kVocabFile) + ": special token \"" + printable(token, 40) +
                         "\" (" + key + ") is missing");
    }
    defaults["id"] = *id;
    defaults["special"] = true;
    added.push_back(defaults);
    std::stable_sort(added.begin(), added.end(),
                     [](const Json& a, const Json& b) { return a["id"] < b["id"]; });
  }

  Json pair_of(const char* key) const { return {content.at(key), vocab.at(content.at(key))}; }
  // To be asked when the ids are known to be numbers.
  std::uint32_t id_of(const char* key) const {
    return vocab.at(content.at(key)).get<std::uint32_t>();
  }
};

Json plain_token(const char* content) { return {{"content", content}, {"normalized", true}}; }

// The list of tokenizer.json: the special tokens, with what the decoder says of them and others.
Json token_list(const Json& special, const Json& decoder) {
  Json tokens = Json::array();
  for (auto& [id, token] : added_tokens_by_id(decoder, kConfigFile)) {
    tokens.push_back(token);
    tokens.back()["id"] = id;
  }
  for (const Json& token : special) {
    const auto is_same = [&token](const Json& known) {
      return known.value("content", Json()) == token["content"];
    };
    if (std::ranges::none_of(tokens, is_same)) tokens.push_back(token);
  }
  std::stable_sort(tokens.begin(), tokens.end(),
                   [](const Json& a, const Json& b) { return a["id"] < b["id"]; });
  return tokens;
}

}  // namespace

Json read_merges_text(const std::string& text, const std::string& file) {
  Json merges = Json::array();
  std::size_t line = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) end = text.size();
    std::string entry = text.substr(begin, end - begin);
    if (!entry.empty() && entry.back() == '\r') entry.pop_back();
    begin = end + 1;
    ++line;
    if (line == 1 && entry.rfind("#version", 0) == 0) continue;
    if (entry.empty() && begin >= text.size()) break;
    const std::size_t blank = entry.find(' ');
    if (blank == std::string::npos || blank == 0 || blank + 1 == entry.size() ||
        entry.find(' ', blank + 1) != std::string::npos || !is_utf8(entry)) {
      throw ConvertError(file + ": line " + std::to_string(line) +
                         ": expected two tokens with a blank between, found \"" +
                         printable(entry, 40) + "\"");
    }
    merges.push_back(entry);
  }
  return merges;
}

void apply_byte_level_config(const Json& tokenizer_config, TokenizerSpec* spec,
                             std::vector<std::string>& warnings) {
  auto* const bpe = std::get_if<BpeSpec>(&spec->model);
  const JsonFields config(tokenizer_config, kConfigFile);
  const auto kind = class_named(config.get_string("tokenizer_class", ""));
  if (bpe == nullptr || !kind) return;
  const bool prefix_space = config.get_bool("add_prefix_space", false);
  const bool is_roberta = *kind == TokenizerClass::kRoberta;
  const bool trim = is_roberta ? config.get_bool("trim_offsets", true) : spec->trim_offsets;
  if (bpe->prefix_space == prefix_space && spec->trim_offsets == trim) return;
  warnings.push_back(
      "tokenizer_config.json and tokenizer.json differ in add_prefix_space or trim_offsets; "
      "tokenizer_config.json is taken, as transformers does");
  bpe->prefix_space = prefix_space;
  spec->trim_offsets = trim;
  if (is_roberta) spec->trim_keeps_prefix_space = prefix_space;
}

TokenizerSpec read_vocab_and_merges(const std::filesystem::path& folder,
                                    const Json& tokenizer_config) {
  const JsonFields config(tokenizer_config, kConfigFile);
  const bool is_roberta = class_of(folder, config) == TokenizerClass::kRoberta;
  const Json vocab = read_json_file(folder / kVocabFile, kVocabFile);
  if (!vocab.is_object()) {
    throw ConvertError(std::string(kVocabFile) + ": expected an object of tokens and ids, found " +
                       describe_json(vocab));
  }
  const std::string map_file = "special_tokens_map.json";
  Json map_json = Json::object();
  if (file_exists(folder / map_file)) map_json = read_json_file(folder / map_file, map_file);
  const JsonFields map(map_json, map_file);

  const bool prefix_space = config.get_bool("add_prefix_space", false);
  const bool trim = config.get_bool("trim_offsets", true);
  SpecialTokens special = {vocab, map, config};
  Json post;
  if (is_roberta) {
    special.add("bos_token", plain_token("<s>"));
    special.add("eos_token", plain_token("</s>"));
    special.add("unk_token", plain_token("<unk>"));
    special.add("sep_token", plain_token("</s>"));
    special.add("pad_token", plain_token("<pad>"));
    special.add("cls_token", plain_token("<s>"));
    special.add("mask_token", {{"content", "<mask>"}, {"lstrip", true}, {"normalized", false}});
    post = {{"type", "RobertaProcessing"},
            {"sep", special.pair_of("sep_token")},
            {"cls", special.pair_of("cls_token")},
            {"trim_offsets", trim},
            {"add_prefix_space", prefix_space}};
  } else {
    if (config.get_bool("add_bos_token", false)) {
      throw ConvertError(std::string(kConfigFile) +
                         ": \"add_bos_token\" true is not supported; expected false");
    }
    special.add("unk_token", plain_token("<|endoftext|>"));
    special.add("bos_token", plain_token("<|endoftext|>"));
    special.add("eos_token", plain_token("<|endoftext|>"));
    post = {{"type", "ByteLevel"}, {"trim_offsets", false}, {"add_prefix_space", true}};
  }
  const Json* decoder = config.find("added_tokens_decoder");
  if (decoder == nullptr) refuse_added_tokens_file(folder);
  const Json merges =
      read_merges_text(read_file(folder / kMergesFile, kMergesFile, kMostMergesBytes), kMergesFile);
  const Json root = {
      {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", merges}}},
      {"added_tokens", decoder != nullptr ? token_list(special.added, *decoder) : special.added},
      {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", prefix_space}}},
      {"post_processor", post}};
  TokenizerSpec spec = parse_tokenizer_json(root, "vocab.json and merges.txt");
  if (is_roberta) {
    spec.cls_id = special.id_of("cls_token");
    spec.sep_id = special.id_of("sep_token");
    spec.pad_id = special.id_of("pad_token");
    spec.mask_id = special.id_of("mask_token");
  }
  return spec;
}

}  // namespace embert::convert
