// SPDX-License-Identifier: Apache-2.0
// "post_processor" of tokenizer.json: the templates around one text and two.
#include <utility>

#include "converter/convert_error.hpp"
#include "converter/import/tokenizer/tokenizer_json.hpp"
#include "runtime/format/tokenizer_format.hpp"

namespace embert::convert {
namespace {

using PieceKind = TemplatePieceSpec::Kind;

class PostProcessor {
 public:
  PostProcessor(const TokenTable& table, TokenizerSpec* spec) : table_(table), spec_(*spec) {}

  void read(const Json& value) {
    const JsonFields fields(value, table_.file() + ": post_processor");
    const std::string type = fields.get_string("type");
    if (type == "BertProcessing") {
      const std::uint32_t cls = id_of_pair(fields, "cls");
      const std::uint32_t sep = id_of_pair(fields, "sep");
      spec_.single = {
          {PieceKind::kToken, cls, 0}, {PieceKind::kFirstText, 0, 0}, {PieceKind::kToken, sep, 0}};
      spec_.pair = spec_.single;
      spec_.pair.insert(spec_.pair.end(),
                        {{PieceKind::kSecondText, 0, 1}, {PieceKind::kToken, sep, 1}});
    } else if (type == "RobertaProcessing") {
      const std::uint32_t cls = id_of_pair(fields, "cls");
      const std::uint32_t sep = id_of_pair(fields, "sep");
      spec_.single = {
          {PieceKind::kToken, cls, 0}, {PieceKind::kFirstText, 0, 0}, {PieceKind::kToken, sep, 0}};
      spec_.pair = spec_.single;
      spec_.pair.insert(spec_.pair.end(), {{PieceKind::kToken, sep, 0},
                                           {PieceKind::kSecondText, 0, 0},
                                           {PieceKind::kToken, sep, 0}});
      read_trim(fields);
    } else if (type == "TemplateProcessing") {
      spec_.single = read_template(fields, "single", 1);
      spec_.pair = read_template(fields, "pair", 2);
    } else if (type == "ByteLevel") {
      read_trim(fields);
    } else if (type == "Sequence") {
      const Json* list = fields.find("processors");
      if (list == nullptr || !list->is_array()) {
        table_.fail("post_processor: \"processors\" must be an array");
      }
      for (const Json& item : *list) read(item);
    } else {
      table_.fail("post_processor \"" + printable(type) +
                  "\" is not supported; embert reads TemplateProcessing, BertProcessing, "
                  "RobertaProcessing, ByteLevel and Sequence");
    }
  }

 private:
  void read_trim(const JsonFields& fields) {
    spec_.trim_offsets = fields.get_bool("trim_offsets", true);
    spec_.trim_keeps_prefix_space = fields.get_bool("add_prefix_space", true);
  }

  // ["[CLS]", 101] of BertProcessing.
  std::uint32_t id_of_pair(const JsonFields& fields, const char* key) const {
    const Json* value = fields.find(key);
    if (value == nullptr || !value->is_array() || value->size() != 2) {
      table_.fail(std::string("post_processor: \"") + key + "\" must be a token and its id");
    }
    return table_.check_id((*value)[1], std::string("post_processor: \"") + key + "\"");
  }

  std::vector<TemplatePieceSpec> read_template(const JsonFields& fields, const char* key,
                                               int texts) const {
    const std::string where = std::string("post_processor: \"") + key + "\"";
    const Json* list = fields.find(key);
    if (list == nullptr || !list->is_array()) table_.fail(where + " must be an array");
    std::vector<TemplatePieceSpec> pieces;
    int seen = 0;
    for (const Json& item : *list) {
      const JsonFields outer(item, table_.file() + ": " + where);
      if (const Json* sequence = outer.find("Sequence")) {
        const JsonFields piece(*sequence, table_.file() + ": " + where);
        const std::string id = piece.get_string("id");
        if (id != (seen == 0 ? "A" : "B")) {
          table_.fail(where + " must hold " + (texts == 1 ? "A once" : "A once, then B once") +
                      ", found " + printable(id));
        }
        const PieceKind kind = seen++ == 0 ? PieceKind::kFirstText : PieceKind::kSecondText;
        pieces.push_back(
            {kind, 0, static_cast<std::uint32_t>(piece.get_int("type_id", 0, kMaxTypeId))});
      } else if (const Json* special = outer.find("SpecialToken")) {
        const JsonFields piece(*special, table_.file() + ": " + where);
        const auto type_id = static_cast<std::uint32_t>(piece.get_int("type_id", 0, kMaxTypeId));
        for (const std::uint32_t id : special_ids(fields, piece.get_string("id"))) {
          pieces.push_back({PieceKind::kToken, id, type_id});
        }
      } else {
        table_.fail(where + ": expected Sequence or SpecialToken, found " + describe_json(item));
      }
      // At once: each item may name all ids of the file.
      if (pieces.size() > kMaxTemplatePieces) {
        table_.fail(where + " has more than " + std::to_string(kMaxTemplatePieces) +
                    " pieces, which is not supported");
      }
    }
    if (seen != texts)
      table_.fail(where + " must hold " + (texts == 1 ? "A once" : "A once, then B once"));
    return pieces;
  }

  std::vector<std::uint32_t> special_ids(const JsonFields& fields, const std::string& name) const {
    const std::string where = "post_processor: special token \"" + printable(name, 40) + "\"";
    const Json* all = fields.find("special_tokens");
    if (all == nullptr || !all->is_object() || !all->contains(name)) {
      table_.fail(where + " is not among \"special_tokens\"");
    }
    const JsonFields token((*all)[name], table_.file() + ": " + where);
    const Json* ids = token.find("ids");
    if (ids == nullptr || !ids->is_array()) table_.fail(where + ": \"ids\" must be an array");
    std::vector<std::uint32_t> out;
    for (const Json& id : *ids) out.push_back(table_.check_id(id, where));
    return out;
  }

  const TokenTable& table_;
  TokenizerSpec& spec_;
};

}  // namespace

void read_post_processor(const Json* value, const TokenTable& table, TokenizerSpec* spec) {
  spec->single = {{PieceKind::kFirstText, 0, 0}};
  spec->pair = {{PieceKind::kFirstText, 0, 0}, {PieceKind::kSecondText, 0, 1}};
  if (value != nullptr) PostProcessor(table, spec).read(*value);
}

}  // namespace embert::convert
