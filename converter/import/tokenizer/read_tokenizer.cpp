// SPDX-License-Identifier: Apache-2.0
// Finds the tokenizer files of a folder and combines their settings.
#include "converter/import/tokenizer/read_tokenizer.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "converter/convert_error.hpp"
#include "converter/files/read_file.hpp"
#include "converter/import/json_file.hpp"
#include "converter/import/tokenizer/added_token.hpp"
#include "converter/import/tokenizer/bpe/vocab_merges_files.hpp"
#include "converter/import/tokenizer/sentencepiece/read_sentencepiece.hpp"
#include "runtime/format/tokenizer_format.hpp"

namespace embert::convert {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{64} << 20;

std::optional<std::uint32_t> find_token(const std::unordered_map<std::string, std::uint32_t>& ids,
                                        const std::string& token) {
  const auto found = ids.find(token);
  if (found == ids.end()) return std::nullopt;
  return found->second;
}

TokenizerSpec make_from_lines(std::vector<std::string> lines, const std::string& file,
                              const VocabularySettings& settings) {
  if (lines.empty()) throw ConvertError(file + ": no tokens; expected one a line");
  std::unordered_map<std::string, std::uint32_t> ids;
  for (std::size_t id = 0; id < lines.size(); ++id) {
    const std::string where = file + ": line " + std::to_string(id + 1);
    if (!is_utf8(lines[id]))
      throw ConvertError(where + " is not UTF-8: \"" + printable(lines[id], 40) + "\"");
    const auto [first, is_new] = ids.emplace(lines[id], static_cast<std::uint32_t>(id));
    if (!is_new) {
      throw ConvertError(where + ": token \"" + printable(lines[id], 40) + "\" stands in line " +
                         std::to_string(first->second + 1) + " already; tokens must differ");
    }
  }
  TokenizerSpec spec;
  spec.in_vocabulary.assign(lines.size(), true);
  spec.tokens = std::move(lines);
  WordPieceSpec& wordpiece = spec.wordpiece();
  wordpiece.lowercase = settings.lowercase;
  wordpiece.strip_accents = settings.strip_accents.value_or(settings.lowercase);
  wordpiece.split_cjk = settings.split_cjk;
  wordpiece.clean_text = settings.clean_text;
  const auto require = [&](const std::string& token) {
    const auto id = find_token(ids, token);
    if (!id) throw ConvertError(file + ": token \"" + printable(token, 40) + "\" is missing");
    return *id;
  };
  spec.unk_id = require(settings.unk_token);
  spec.cls_id = require(settings.cls_token);
  spec.sep_id = require(settings.sep_token);
  spec.pad_id = find_token(ids, settings.pad_token);
  spec.mask_id = find_token(ids, settings.mask_token);
  using Kind = TemplatePieceSpec::Kind;
  spec.single = {
      {Kind::kToken, *spec.cls_id, 0}, {Kind::kFirstText, 0, 0}, {Kind::kToken, *spec.sep_id, 0}};
  spec.pair = spec.single;
  if (settings.two_separators) spec.pair.push_back({Kind::kToken, *spec.sep_id, 0});
  spec.pair.insert(spec.pair.end(), {{Kind::kSecondText, 0, 1}, {Kind::kToken, *spec.sep_id, 1}});
  for (const auto& id : {spec.unk_id, spec.sep_id, spec.pad_id, spec.cls_id, spec.mask_id}) {
    if (id) {
      spec.added_tokens.push_back({.content = spec.tokens[*id], .id = *id, .special = true});
    }
  }
  return spec;
}

// A special token's name: a string, or an object with "content".
void read_name(const JsonFields& fields, const char* key, std::string* name) {
  const Json* value = fields.find(key);
  if (value == nullptr) return;
  if (value->is_object()) {
    *name = JsonFields(*value, fields.file() + ": " + key).get_string("content");
  } else {
    *name = fields.get_string(key);
  }
}

void read_names(const JsonFields& fields, VocabularySettings* settings) {
  read_name(fields, "unk_token", &settings->unk_token);
  read_name(fields, "cls_token", &settings->cls_token);
  read_name(fields, "sep_token", &settings->sep_token);
  read_name(fields, "pad_token", &settings->pad_token);
  read_name(fields, "mask_token", &settings->mask_token);
}

// The special tokens that the files name, with their flags where a file has them. transformers
// searches texts for all of them.
std::vector<AddedTokenSpec> read_special_tokens(const JsonFields& map, const JsonFields& config) {
  std::vector<AddedTokenSpec> tokens;
  const auto read = [&tokens](Json value, const JsonFields& fields, const std::string& key) {
    if (value.is_string()) value = {{"content", value}};
    value["special"] = true;
    tokens.push_back(read_added_token(value, fields.file(), key));
  };
  for (const char* key : {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token",
                          "cls_token", "mask_token"}) {
    const Json* named = config.find(key);
    const Json* in_map = map.find(key);
    const bool has_flags = named != nullptr && named->is_object();
    const JsonFields& fields = in_map != nullptr && !has_flags ? map : config;
    const Json* value = fields.find(key);
    if (value != nullptr && (value->is_string() || value->is_object())) read(*value, fields, key);
  }
  const char* const more = "additional_special_tokens";
  const JsonFields& fields = config.find(more) != nullptr ? config : map;
  const Json* list = fields.find(more);
  if (list == nullptr) return tokens;
  const auto is_token = [](const Json& value) { return value.is_string() || value.is_object(); };
  if (!list->is_array() || !std::ranges::all_of(*list, is_token)) {
    throw ConvertError(fields.file() + ": \"" + more + "\" must be a list of tokens, found " +
                       describe_json(*list));
  }
  for (const Json& value : *list) read(value, fields, more);
  return tokens;
}

// The first id of each token.
std::unordered_map<std::string, std::uint32_t> token_ids(const TokenizerSpec& spec) {
  std::unordered_map<std::string, std::uint32_t> ids;
  for (std::size_t id = 0; id < spec.tokens.size(); ++id) {
    ids.emplace(spec.tokens[id], static_cast<std::uint32_t>(id));
  }
  return ids;
}

// Adds the special tokens that are no added tokens so far.
void add_special_tokens(const std::vector<AddedTokenSpec>& tokens, TokenizerSpec* spec,
                        std::vector<std::string>& warnings) {
  std::unordered_set<std::string> known;
  for (const AddedTokenSpec& token : spec->added_tokens) known.insert(token.content);
  const std::unordered_map<std::string, std::uint32_t> ids = token_ids(*spec);
  for (AddedTokenSpec token : tokens) {
    if (!known.insert(token.content).second) continue;
    const auto id = find_token(ids, token.content);
    if (!id) {
      warnings.push_back("special token \"" + printable(token.content, 40) +
                         "\" has no id in the vocabulary; in a text it is cut as other words are");
      continue;
    }
    token.id = *id;
    spec->added_tokens.push_back(std::move(token));
  }
  std::ranges::stable_sort(spec->added_tokens, {}, &AddedTokenSpec::id);
}

// Adds the tokens that tokenizer_config.json lists under "added_tokens_decoder" (id -> token), in
// the order of their ids.
void read_added_tokens(const Json& list, const std::string& file, TokenizerSpec* spec) {
  std::unordered_map<std::string, std::uint32_t> ids = token_ids(*spec);
  std::unordered_map<std::string, std::size_t> index_of;  // an added token by its content
  for (std::size_t i = 0; i < spec->added_tokens.size(); ++i) {
    index_of.emplace(spec->added_tokens[i].content, i);
  }
  for (const auto& [id, value] : added_tokens_by_id(list, file)) {
    AddedTokenSpec token = read_added_token(value, file, "added_tokens_decoder");
    token.id = id;
    const std::string name = file + ": " + added_token_name(token);
    if (id > spec->tokens.size()) {
      throw ConvertError(name + " has id " + std::to_string(id) + ", but no token has id " +
                         std::to_string(spec->tokens.size()) + "; ids must have no holes");
    }
    if (id == spec->tokens.size()) {
      const auto [known, is_new] = ids.emplace(token.content, id);
      if (!is_new) {
        throw ConvertError(name + " has id " + std::to_string(id) +
                           ", but the vocabulary has it as " + std::to_string(known->second) +
                           "; tokens must differ");
      }
      spec->tokens.push_back(token.content);
      spec->in_vocabulary.push_back(false);
    } else if (spec->tokens[id] != token.content) {
      throw ConvertError(name + " has id " + std::to_string(id) + ", which is \"" +
                         printable(spec->tokens[id], 40) + "\" in the vocabulary");
    }
    const auto [index, is_new] = index_of.emplace(token.content, spec->added_tokens.size());
    if (is_new) spec->added_tokens.emplace_back();
    spec->added_tokens[index->second] = std::move(token);
  }
}

constexpr std::string_view kBertClasses[] = {"BertTokenizer", "DistilBertTokenizer",
                                             "ElectraTokenizer", "MobileBertTokenizer",
                                             "MPNetTokenizer"};

// The letter case settings of tokenizer_config.json. With vocab.txt they are the only source;
// otherwise those that are set replace the settings of tokenizer.json.
struct CaseSettings {
  std::optional<bool> lowercase, split_cjk;
  bool says_strip_accents = false;
  std::optional<bool> strip_accents;
};

CaseSettings read_case(const Json& config, const std::string& file) {
  const JsonFields fields(config, file);
  CaseSettings out;
  if (fields.has("do_lower_case")) out.lowercase = fields.get_bool("do_lower_case", true);
  if (fields.has("tokenize_chinese_chars"))
    out.split_cjk = fields.get_bool("tokenize_chinese_chars", true);
  out.says_strip_accents = config.contains("strip_accents");
  if (fields.has("strip_accents")) out.strip_accents = fields.get_bool("strip_accents", true);
  return out;
}

// BERT's classes of transformers put the settings of tokenizer_config.json in the place of those of
// tokenizer.json, and their defaults where it has none; its general class reads none of them.
void apply_case(const CaseSettings& said, const std::string& name, WordPieceSpec* spec,
                std::vector<std::string>& warnings) {
  if (name == "PreTrainedTokenizer") return;
  const WordPieceSpec before = *spec;
  const bool has_defaults = std::ranges::find(kBertClasses, name) != std::end(kBertClasses);
  spec->lowercase = said.lowercase.value_or(has_defaults || spec->lowercase);
  spec->split_cjk = said.split_cjk.value_or(has_defaults || spec->split_cjk);
  if (has_defaults || said.says_strip_accents || spec->lowercase != before.lowercase)
    spec->strip_accents = said.strip_accents.value_or(spec->lowercase);
  if (spec->lowercase != before.lowercase || spec->split_cjk != before.split_cjk ||
      spec->strip_accents != before.strip_accents) {
    warnings.push_back(
        "tokenizer_config.json and tokenizer.json differ in letter case, accents or Chinese "
        "characters; "
        "tokenizer_config.json is taken, as transformers does");
  }
}

// The model file of sentencepiece that a folder has, by the names of transformers.
std::optional<std::string> sentencepiece_file(const std::filesystem::path& folder) {
  for (const char* const name : {"sentencepiece.bpe.model", "spiece.model"}) {
    if (file_exists(folder / name)) return name;
  }
  return std::nullopt;
}

// The tokenizer's class without "Fast"; empty where the file names none.
std::string tokenizer_class(const JsonFields& config) {
  std::string name = config.get_string("tokenizer_class", "");
  if (name.ends_with("TokenizerFast")) name.erase(name.size() - 4);
  return name;
}

// The tokenizer's class, or else the model's type. Files that are no tokenizer.json do not say what
// stands around the texts.
std::string tokenizer_name(const std::filesystem::path& folder, const JsonFields& config) {
  std::string name = tokenizer_class(config);
  if (name.empty() && file_exists(folder / "config.json")) {
    const Json document = read_json_file(folder / "config.json", "config.json");
    const JsonFields model(document, "config.json");
    name = tokenizer_class(model);
    if (name.empty()) name = model.get_string("model_type", "");
  }
  return name;
}

// Other classes cut words out of a text in their own way, such as BertJapaneseTokenizer.
void require_wordpiece_class(const std::string& name) {
  if (!name.ends_with("Tokenizer") ||
      std::ranges::find(kBertClasses, name) != std::end(kBertClasses)) {
    return;
  }
  throw ConvertError("vocab.txt: tokenizer_class \"" + printable(name) +
                     "\" is not supported with it; embert reads BertTokenizer, "
                     "DistilBertTokenizer, ElectraTokenizer, MobileBertTokenizer and "
                     "MPNetTokenizer from this file, and others from tokenizer.json");
}

SentencePieceSettings sentencepiece_settings(const std::string& name, const std::string& file,
                                             const JsonFields& fields) {
  using Family = SentencePieceSettings::Family;
  SentencePieceSettings out;
  if (name.starts_with("Camembert") || name == "camembert") {
    out.family = Family::kCamembert;
  } else if (name.starts_with("Albert") || name == "albert") {
    out.family = Family::kAlbert;
  } else if (file == "spiece.model") {
    throw ConvertError(file + ": tokenizer_class \"" + printable(name) +
                       "\" is not supported; embert reads AlbertTokenizer from this file");
  }
  out.lowercase = fields.get_bool("do_lower_case", true);
  out.keep_accents = fields.get_bool("keep_accents", false);
  return out;
}

// The tokenizer of the first files that are there; `config` is tokenizer_config.json or empty.
std::optional<TokenizerSpec> read_files(const std::filesystem::path& folder, const Json& config,
                                        const std::string& config_file,
                                        std::vector<std::string>& warnings) {
  const CaseSettings letter_case = read_case(config, config_file);
  VocabularySettings settings;
  const std::string map_file = "special_tokens_map.json";
  Json map_json = Json::object();
  if (file_exists(folder / map_file)) map_json = read_json_file(folder / map_file, map_file);
  const JsonFields map(map_json, map_file), fields(config, config_file);
  read_names(map, &settings);
  read_names(fields, &settings);
  const std::vector<AddedTokenSpec> special = read_special_tokens(map, fields);
  const auto add_configured_tokens = [&](TokenizerSpec* spec) {
    const Json* const added = fields.find("added_tokens_decoder");
    if (added != nullptr) {
      read_added_tokens(*added, config_file, spec);
    } else if (!file_exists(folder / "tokenizer.json")) {
      refuse_added_tokens_file(folder);
    }
    add_special_tokens(special, spec, warnings);
  };

  if (file_exists(folder / "tokenizer.json")) {
    TokenizerSpec spec = parse_tokenizer_json(
        read_file(folder / "tokenizer.json", "tokenizer.json", kMaxFileBytes), "tokenizer.json");
    if (auto* wordpiece = std::get_if<WordPieceSpec>(&spec.model)) {
      apply_case(letter_case, tokenizer_class(fields), wordpiece, warnings);
    }
    apply_byte_level_config(config, &spec, warnings);
    const auto rename = [&spec](const std::string& token, std::optional<std::uint32_t>* id) {
      for (std::size_t i = 0; i < spec.tokens.size(); ++i) {
        if (spec.tokens[i] == token) *id = static_cast<std::uint32_t>(i);
      }
    };
    rename(settings.cls_token, &spec.cls_id);
    rename(settings.sep_token, &spec.sep_id);
    rename(settings.pad_token, &spec.pad_id);
    rename(settings.mask_token, &spec.mask_id);
    add_configured_tokens(&spec);
    return spec;
  }
  if (const auto file = sentencepiece_file(folder)) {
    TokenizerSpec spec =
        read_sentencepiece(read_file(folder / *file, *file, kMaxFileBytes), *file,
                           sentencepiece_settings(tokenizer_name(folder, fields), *file, fields));
    add_configured_tokens(&spec);
    return spec;
  }
  if (!file_exists(folder / "vocab.txt") && file_exists(folder / "vocab.json") &&
      file_exists(folder / "merges.txt")) {
    TokenizerSpec spec = read_vocab_and_merges(folder, config);  // with added_tokens_decoder
    add_special_tokens(special, &spec, warnings);
    return spec;
  }
  if (!file_exists(folder / "vocab.txt")) return std::nullopt;
  const std::string name = tokenizer_name(folder, fields);
  require_wordpiece_class(name);
  settings.two_separators = name == "MPNetTokenizer" || name == "mpnet";
  settings.lowercase = letter_case.lowercase.value_or(true);
  settings.strip_accents = letter_case.strip_accents;
  settings.split_cjk = letter_case.split_cjk.value_or(true);
  TokenizerSpec spec = read_vocabulary(folder / "vocab.txt", settings);
  // read_vocabulary adds the five tokens without the flags that the files give them.
  for (AddedTokenSpec& token : spec.added_tokens) {
    const auto named = std::ranges::find(special, token.content, &AddedTokenSpec::content);
    if (named == special.end()) continue;
    const std::uint32_t id = token.id;
    token = *named;
    token.id = id;
  }
  add_configured_tokens(&spec);
  return spec;
}

}  // namespace

TokenizerSpec read_vocabulary(const std::filesystem::path& path,
                              const VocabularySettings& settings) {
  const std::string file = path.filename().string();
  return make_from_lines(split_lines(read_file(path, file, kMaxFileBytes), file), file, settings);
}

std::optional<TokenizerSpec> read_tokenizer(const std::filesystem::path& folder,
                                            std::vector<std::string>& warnings) {
  Json config = Json::object();
  const std::string config_file = "tokenizer_config.json";
  if (file_exists(folder / config_file)) config = read_json_file(folder / config_file, config_file);
  const JsonFields fields(config, config_file);
  if (fields.get_string("truncation_side", "right") != "right") {
    throw ConvertError(config_file + ": truncation_side " +
                       describe_json(*fields.find("truncation_side")) +
                       " is not supported; embert cuts texts at the right");
  }
  std::optional<TokenizerSpec> spec = read_files(folder, config, config_file, warnings);
  // transformers writes 10^30 for "any length".
  const double most = fields.get_number("model_max_length", 0);
  if (spec && most >= 1 && most <= kMaxTokensLimit) {
    spec->model_max_length = static_cast<std::uint32_t>(most);
  }
  return spec;
}

}  // namespace embert::convert
