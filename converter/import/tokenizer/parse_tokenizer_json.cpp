// SPDX-License-Identifier: Apache-2.0
// Parses tokenizer.json of the tokenizers library. The error for a tokenizer other than BERT's
// WordPiece names the setting that differs.
#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "converter/convert_error.hpp"
#include "converter/import/json_file.hpp"
#include "converter/import/tokenizer/added_token.hpp"
#include "converter/import/tokenizer/read_tokenizer.hpp"
#include "runtime/format/tokenizer_format.hpp"

namespace embert::convert {
namespace {

using Ids = std::unordered_map<std::string, std::uint32_t>;

class TokenizerJson {
 public:
  TokenizerJson(const Json& root, const std::string& file) : root_(root, file), file_(file) {}

  TokenizerSpec parse() {
    parse_model();
    parse_normalizer();
    parse_pre_tokenizer();
    parse_added_tokens();
    parse_post_processor();
    parse_truncation();
    spec_.cls_id = find("[CLS]");
    spec_.sep_id = find("[SEP]");
    spec_.pad_id = find("[PAD]");
    spec_.mask_id = find("[MASK]");
    return std::move(spec_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw ConvertError(file_ + ": " + what); }

  std::optional<std::uint32_t> find(const std::string& token) const {
    const auto found = ids_.find(token);
    if (found == ids_.end()) return std::nullopt;
    return found->second;
  }

  const Json& section(const char* key) const {
    const Json* value = root_.find(key);
    if (value == nullptr) fail(std::string("\"") + key + "\" is missing");
    return *value;
  }

  // The "type" of a section, which must be there.
  std::string type_of(const char* key) const {
    return JsonFields(section(key), file_ + ": " + key).get_string("type");
  }

  void parse_model() {
    const JsonFields model(section("model"), file_ + ": model");
    // Files from before version 0.9 of the library have no type here.
    const std::string type = model.get_string("type", "WordPiece");
    if (type != "WordPiece" || !model.has("continuing_subword_prefix")) {
      fail("model type \"" + printable(type) +
           "\" is not supported; embert reads WordPiece (BERT) only");
    }
    spec_.continuing_prefix = model.get_string("continuing_subword_prefix");
    spec_.max_word_chars = static_cast<std::uint32_t>(
        model.get_int("max_input_chars_per_word", 1, kMaxWordChars, 100));
    const Json* vocab = model.find("vocab");
    if (vocab == nullptr || !vocab->is_object() || vocab->empty()) {
      fail("model: \"vocab\" must be an object of tokens and ids");
    }
    for (const auto& [token, id] : vocab->items()) add_token(token, id, true);
    const std::string unk = model.get_string("unk_token", "[UNK]");
    const auto found = find(unk);
    if (!found) fail("model: \"unk_token\" \"" + printable(unk) + "\" is not in \"vocab\"");
    spec_.unk_id = *found;
  }

  void add_token(const std::string& token, const Json& id_value, bool in_vocabulary) {
    if (!id_value.is_number_integer() || id_value < 0 || id_value >= kMaxTokenizerTokens) {
      fail("id of token \"" + printable(token, 40) + "\" must be a whole number from 0 to " +
           std::to_string(kMaxTokenizerTokens - 1) + ", found " + describe_json(id_value));
    }
    const std::uint32_t id = id_value.get<std::uint32_t>();
    if (id >= spec_.tokens.size()) {
      spec_.tokens.resize(id + 1);
      spec_.in_vocabulary.resize(id + 1);
      taken_.resize(id + 1);
    }
    if (taken_[id]) {
      fail("tokens \"" + printable(spec_.tokens[id], 40) + "\" and \"" + printable(token, 40) +
           "\" both have id " + std::to_string(id));
    }
    taken_[id] = true;
    spec_.tokens[id] = token;
    spec_.in_vocabulary[id] = in_vocabulary;
    ids_.emplace(token, id);
  }

  void parse_normalizer() {
    const Json* value = root_.find("normalizer");
    if (value == nullptr) {
      spec_.lowercase = spec_.strip_accents = spec_.split_cjk = spec_.clean_text = false;
      return;
    }
    const std::string type = type_of("normalizer");
    if (type != "BertNormalizer") {
      fail("normalizer \"" + printable(type) + "\" is not supported; embert reads BertNormalizer");
    }
    const JsonFields normalizer(*value, file_ + ": normalizer");
    spec_.lowercase = normalizer.get_bool("lowercase", true);
    spec_.strip_accents = normalizer.get_bool("strip_accents", spec_.lowercase);
    spec_.split_cjk = normalizer.get_bool("handle_chinese_chars", true);
    spec_.clean_text = normalizer.get_bool("clean_text", true);
  }

  void parse_pre_tokenizer() {
    if (!root_.has("pre_tokenizer"))
      fail("\"pre_tokenizer\" is missing; expected BertPreTokenizer");
    const std::string type = type_of("pre_tokenizer");
    if (type != "BertPreTokenizer") {
      fail("pre_tokenizer \"" + printable(type) +
           "\" is not supported; embert reads BertPreTokenizer");
    }
  }

  void parse_added_tokens() {
    if (const Json* tokens = root_.find("added_tokens")) {
      if (!tokens->is_array())
        fail("\"added_tokens\" must be an array, found " + describe_json(*tokens));
      for (const Json& token : *tokens) parse_added_token(token);
    }
    const auto hole = std::find(taken_.begin(), taken_.end(), false);
    if (hole != taken_.end()) {
      fail("no token has id " + std::to_string(hole - taken_.begin()) + "; ids must go from 0 to " +
           std::to_string(taken_.size() - 1) + " without holes");
    }
  }

  void parse_added_token(const Json& value) {
    AddedTokenSpec token = read_added_token(value, file_, "added_tokens");
    const std::string name = added_token_name(token);
    const Json* id = JsonFields(value, file_ + ": added_tokens").find("id");
    if (id == nullptr) fail(name + ": \"id\" is missing");
    const auto known = find(token.content);
    if (!known) {
      add_token(token.content, *id, false);
    } else if (*id != *known) {
      fail(name + " has id " + describe_json(*id) + ", but " + std::to_string(*known) +
           " elsewhere in the file");
    }
    token.id = ids_.at(token.content);
    const auto same = [&token](const AddedTokenSpec& other) { return other.id == token.id; };
    if (std::any_of(spec_.added_tokens.begin(), spec_.added_tokens.end(), same)) {
      fail(name + " stands there twice");
    }
    spec_.added_tokens.push_back(token);
  }

  void parse_post_processor() {
    using Kind = TemplatePieceSpec::Kind;
    const Json* value = root_.find("post_processor");
    if (value == nullptr) {
      spec_.single = {{Kind::kFirstText, 0, 0}};
      spec_.pair = {{Kind::kFirstText, 0, 0}, {Kind::kSecondText, 0, 1}};
      return;
    }
    const std::string type = type_of("post_processor");
    const JsonFields fields(*value, file_ + ": post_processor");
    if (type == "BertProcessing") {
      const std::uint32_t cls = id_of_pair(fields, "cls");
      const std::uint32_t sep = id_of_pair(fields, "sep");
      spec_.single = {{Kind::kToken, cls, 0}, {Kind::kFirstText, 0, 0}, {Kind::kToken, sep, 0}};
      spec_.pair = spec_.single;
      spec_.pair.insert(spec_.pair.end(), {{Kind::kSecondText, 0, 1}, {Kind::kToken, sep, 1}});
    } else if (type == "TemplateProcessing") {
      spec_.single = parse_template(fields, "single", 1);
      spec_.pair = parse_template(fields, "pair", 2);
    } else {
      fail("post_processor \"" + printable(type) +
           "\" is not supported; embert reads TemplateProcessing and " + "BertProcessing");
    }
  }

  std::uint32_t check_id(const Json& value, const std::string& where) const {
    if (!value.is_number_integer() || value < 0 || value >= spec_.tokens.size()) {
      fail(where + ": expected the id of a token, found " + describe_json(value));
    }
    return value.get<std::uint32_t>();
  }

  // BertProcessing's ["[CLS]", 101].
  std::uint32_t id_of_pair(const JsonFields& fields, const char* key) const {
    const Json* value = fields.find(key);
    if (value == nullptr || !value->is_array() || value->size() != 2) {
      fail(std::string("post_processor: \"") + key + "\" must be a token and its id");
    }
    return check_id((*value)[1], std::string("post_processor: \"") + key + "\"");
  }

  std::vector<TemplatePieceSpec> parse_template(const JsonFields& fields, const char* key,
                                                int texts) const {
    using Kind = TemplatePieceSpec::Kind;
    const std::string where = std::string("post_processor: \"") + key + "\"";
    const Json* list = fields.find(key);
    if (list == nullptr || !list->is_array()) fail(where + " must be an array");
    std::vector<TemplatePieceSpec> pieces;
    int seen = 0;
    for (const Json& item : *list) {
      const JsonFields outer(item, file_ + ": " + where);
      if (const Json* sequence = outer.find("Sequence")) {
        const JsonFields piece(*sequence, file_ + ": " + where);
        const std::string id = piece.get_string("id");
        if (id != (seen == 0 ? "A" : "B")) {
          fail(where + " must hold " + (texts == 1 ? "A once" : "A once, then B once") +
               ", found " + printable(id));
        }
        const Kind kind = seen++ == 0 ? Kind::kFirstText : Kind::kSecondText;
        pieces.push_back(
            {kind, 0, static_cast<std::uint32_t>(piece.get_int("type_id", 0, kMaxTypeId))});
      } else if (const Json* special = outer.find("SpecialToken")) {
        const JsonFields piece(*special, file_ + ": " + where);
        const auto type_id = static_cast<std::uint32_t>(piece.get_int("type_id", 0, kMaxTypeId));
        for (const std::uint32_t id : special_ids(fields, piece.get_string("id"))) {
          pieces.push_back({Kind::kToken, id, type_id});
        }
      } else {
        fail(where + ": expected Sequence or SpecialToken, found " + describe_json(item));
      }
    }
    if (seen != texts)
      fail(where + " must hold " + (texts == 1 ? "A once" : "A once, then B once"));
    return pieces;
  }

  std::vector<std::uint32_t> special_ids(const JsonFields& fields, const std::string& name) const {
    const std::string where = "post_processor: special token \"" + printable(name, 40) + "\"";
    const Json* all = fields.find("special_tokens");
    if (all == nullptr || !all->is_object() || !all->contains(name)) {
      fail(where + " is not among \"special_tokens\"");
    }
    const JsonFields token((*all)[name], file_ + ": " + where);
    const Json* ids = token.find("ids");
    if (ids == nullptr || !ids->is_array()) fail(where + ": \"ids\" must be an array");
    std::vector<std::uint32_t> out;
    for (const Json& id : *ids) out.push_back(check_id(id, where));
    return out;
  }

  void parse_truncation() {
    const Json* value = root_.find("truncation");
    if (value == nullptr) return;
    const JsonFields truncation(*value, file_ + ": truncation");
    const std::int64_t most = truncation.get_int("max_length", 0, INT64_MAX, 0);
    if (most > 0 && most <= kMaxTokensLimit) spec_.max_tokens = static_cast<std::uint32_t>(most);
    const std::string direction = truncation.get_string("direction", "Right");
    if (direction != "Right") {
      fail("truncation: direction \"" + printable(direction) +
           "\" is not supported; embert cuts at the right");
    }
  }

  JsonFields root_;
  std::string file_;
  TokenizerSpec spec_;
  Ids ids_;
  std::vector<bool> taken_;
};

}  // namespace

TokenizerSpec parse_tokenizer_json(const std::string& text, const std::string& file) {
  const Json root = parse_json(text, file);
  return TokenizerJson(root, file).parse();
}

}  // namespace embert::convert
