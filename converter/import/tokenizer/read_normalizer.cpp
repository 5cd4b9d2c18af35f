// SPDX-License-Identifier: Apache-2.0
// "normalizer" of tokenizer.json.
#include <iterator>

#include "converter/convert_error.hpp"
#include "converter/import/tokenizer/base64.hpp"
#include "converter/import/tokenizer/tokenizer_json.hpp"

namespace embert::convert {
namespace {

NormalizerStep::Kind normalizer_kind(const std::string& type, const std::string& file) {
  std::string names;
  for (const NormalizerName& entry : kNormalizerNames) {
    if (type == entry.name) return entry.kind;
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw ConvertError(file + ": normalizer \"" + printable(type) +
                     "\" is not supported; embert reads " + names + " and Sequence");
}

void read_pattern(const JsonFields& fields, const std::string& where, NormalizerStep* step) {
  const Json* pattern = fields.find("pattern");
  if (pattern == nullptr) throw ConvertError(where + ": \"pattern\" is missing");
  const JsonFields kinds(*pattern, where + ": pattern");
  step->is_regex = kinds.has("Regex");
  step->pattern = kinds.get_string(step->is_regex ? "Regex" : "String");
}

void append_normalizer(const Json& value, const std::string& file,
                       std::vector<NormalizerStep>* steps) {
  const std::string where = file + ": normalizer";
  const JsonFields fields(value, where);
  const std::string type = fields.get_string("type");
  if (type == "Sequence") {
    const Json* list = fields.find("normalizers");
    if (list == nullptr || !list->is_array()) {
      throw ConvertError(where + ": \"normalizers\" must be an array");
    }
    for (const Json& item : *list) append_normalizer(item, file, steps);
    return;
  }
  NormalizerStep step;
  step.kind = normalizer_kind(type, file);
  switch (step.kind) {
    case NormalizerStep::Kind::kBert:
      step.bert.lowercase = fields.get_bool("lowercase", true);
      step.bert.strip_accents = fields.get_bool("strip_accents", step.bert.lowercase);
      step.bert.split_cjk = fields.get_bool("handle_chinese_chars", true);
      step.bert.clean_text = fields.get_bool("clean_text", true);
      break;
    case NormalizerStep::Kind::kReplace:
      read_pattern(fields, where + ": Replace", &step);
      step.content = fields.get_string("content");
      break;
    case NormalizerStep::Kind::kStrip:
      step.strip_left = fields.get_bool("strip_left", true);
      step.strip_right = fields.get_bool("strip_right", true);
      break;
    case NormalizerStep::Kind::kPrepend:
      step.content = fields.get_string("prepend");
      break;
    case NormalizerStep::Kind::kPrecompiled: {
      const Json* map = fields.find("precompiled_charsmap");
      if (map == nullptr) return;  // sentencepiece's "identity" has none
      step.charsmap = decode_base64(fields.get_string("precompiled_charsmap"),
                                    where + ": precompiled_charsmap");
      if (step.charsmap.empty()) return;
      break;
    }
    default:
      break;
  }
  steps->push_back(std::move(step));
}

}  // namespace

std::vector<NormalizerStep> read_normalizer(const Json* value, const std::string& file) {
  std::vector<NormalizerStep> steps;
  if (value != nullptr) append_normalizer(*value, file, &steps);
  return steps;
}

}  // namespace embert::convert
