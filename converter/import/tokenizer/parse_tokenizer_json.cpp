// SPDX-License-Identifier: Apache-2.0
// Parses tokenizer.json of the tokenizers library. The error for a tokenizer that embert does not
// have names the setting that differs.
#include <initializer_list>
#include <string>
#include <unordered_set>
#include <utility>

#include "converter/convert_error.hpp"
#include "converter/import/json_file.hpp"
#include "converter/import/tokenizer/added_token.hpp"
#include "converter/import/tokenizer/read_tokenizer.hpp"
#include "converter/import/tokenizer/tokenizer_json.hpp"
#include "runtime/format/tokenizer_format.hpp"

namespace embert::convert {
namespace {

class TokenizerJson {
 public:
  TokenizerJson(const Json& root, const std::string& file)
      : root_(root, file), file_(file), table_(file) {}

  TokenizerSpec parse() {
    read_model();
    read_added_tokens();
    read_post_processor(root_.find("post_processor"), table_, &spec_);
    read_truncation();
    spec_.tokens = table_.tokens();
    spec_.in_vocabulary = table_.in_vocabulary();
    spec_.cls_id = find({"[CLS]", "<s>"});
    spec_.sep_id = find({"[SEP]", "</s>"});
    spec_.pad_id = find({"[PAD]", "<pad>"});
    spec_.mask_id = find({"[MASK]", "<mask>"});
    return std::move(spec_);
  }

 private:
  // The first of these tokens that the vocabulary has.
  std::optional<std::uint32_t> find(std::initializer_list<const char*> names) const {
    for (const char* const name : names) {
      if (const auto id = table_.find(name)) return id;
    }
    return std::nullopt;
  }

  // Old files of the library do not say the model's type.
  static std::string type_of(const JsonFields& model) {
    const Json* vocab = model.find("vocab");
    const bool is_list = vocab != nullptr && vocab->is_array();
    return model.get_string("type", is_list               ? "Unigram"
                                    : model.has("merges") ? "BPE"
                                                          : "WordPiece");
  }

  void read_model() {
    const Json* section = root_.find("model");
    if (section == nullptr) table_.fail("\"model\" is missing");
    const JsonFields model(*section, file_ + ": model");
    const std::string type = type_of(model);
    TextSteps steps = {read_normalizer(root_.find("normalizer"), file_),
                       read_pre_tokenizer(root_.find("pre_tokenizer"), file_)};
    if (type == "WordPiece") {
      read_wordpiece_json(model, std::move(steps), &table_, &spec_);
    } else if (type == "Unigram") {
      read_unigram_json(model, std::move(steps), &table_, &spec_);
    } else if (type == "BPE") {
      read_bpe_json(model, std::move(steps), &table_, &spec_);
    } else {
      table_.fail("model type \"" + printable(type) +
                  "\" is not supported; embert reads WordPiece, Unigram and byte-level BPE");
    }
  }

  void read_added_tokens() {
    if (const Json* tokens = root_.find("added_tokens")) {
      if (!tokens->is_array())
        table_.fail("\"added_tokens\" must be an array, found " + describe_json(*tokens));
      for (const Json& token : *tokens) read_added_token_entry(token);
    }
    table_.require_no_holes();
  }

  void read_added_token_entry(const Json& value) {
    AddedTokenSpec token = read_added_token(value, file_, "added_tokens");
    const std::string name = added_token_name(token);
    const Json* id = JsonFields(value, file_ + ": added_tokens").find("id");
    if (id == nullptr) table_.fail(name + ": \"id\" is missing");
    const auto known = table_.find(token.content);
    if (!known) {
      table_.add(token.content, *id, false);
    } else if (*id != *known) {
      table_.fail(name + " has id " + describe_json(*id) + ", but " + std::to_string(*known) +
                  " elsewhere in the file");
    }
    token.id = *table_.find(token.content);
    if (!added_ids_.insert(token.id).second) table_.fail(name + " stands there twice");
    spec_.added_tokens.push_back(token);
  }

  void read_truncation() {
    const Json* value = root_.find("truncation");
    if (value == nullptr) return;
    const JsonFields truncation(*value, file_ + ": truncation");
    const std::int64_t most = truncation.get_int("max_length", 0, INT64_MAX, 0);
    if (most > 0 && most <= kMaxTokensLimit) spec_.max_tokens = static_cast<std::uint32_t>(most);
    const std::string direction = truncation.get_string("direction", "Right");
    if (direction != "Right") {
      table_.fail("truncation: direction \"" + printable(direction) +
                  "\" is not supported; embert cuts at the right");
    }
  }

  JsonFields root_;
  std::string file_;
  TokenTable table_;
  std::unordered_set<std::uint32_t> added_ids_;
  TokenizerSpec spec_;
};

}  // namespace

TokenizerSpec parse_tokenizer_json(const std::string& text, const std::string& file) {
  return parse_tokenizer_json(parse_json(text, file), file);
}

TokenizerSpec parse_tokenizer_json(const Json& root, const std::string& file) {
  return TokenizerJson(root, file).parse();
}

}  // namespace embert::convert
