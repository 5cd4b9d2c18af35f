// SPDX-License-Identifier: Apache-2.0
// "pre_tokenizer" of tokenizer.json.
#include <utility>

#include "converter/convert_error.hpp"
#include "converter/import/tokenizer/tokenizer_json.hpp"

namespace embert::convert {
namespace {

PreTokenizerStep::Kind pre_tokenizer_kind(const std::string& type, const std::string& file) {
  std::string names;
  for (const PreTokenizerName& entry : kPreTokenizerNames) {
    if (type == entry.name) return entry.kind;
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw ConvertError(file + ": pre_tokenizer \"" + printable(type) +
                     "\" is not supported; embert reads " + names + " and Sequence");
}

// Newer files have prepend_scheme, older ones add_prefix_space.
PreTokenizerStep::Prepend read_prepend(const JsonFields& fields, const std::string& where) {
  const bool add = fields.get_bool("add_prefix_space", true);
  const std::string scheme = fields.get_string("prepend_scheme", add ? "always" : "never");
  if (scheme == "always") return PreTokenizerStep::Prepend::kAlways;
  if (scheme == "first") return PreTokenizerStep::Prepend::kFirst;
  if (scheme == "never") return PreTokenizerStep::Prepend::kNever;
  throw ConvertError(where + ": prepend_scheme \"" + printable(scheme) +
                     "\" is not supported; expected always, first or never");
}

void append_pre_tokenizer(const Json& value, const std::string& file,
                          std::vector<PreTokenizerStep>* steps) {
  const std::string where = file + ": pre_tokenizer";
  const JsonFields fields(value, where);
  const std::string type = fields.get_string("type");
  if (type == "Sequence") {
    const Json* list = fields.find("pretokenizers");
    if (list == nullptr || !list->is_array()) {
      throw ConvertError(where + ": \"pretokenizers\" must be an array");
    }
    for (const Json& item : *list) append_pre_tokenizer(item, file, steps);
    return;
  }
  PreTokenizerStep step;
  step.kind = pre_tokenizer_kind(type, file);
  if (step.kind == PreTokenizerStep::Kind::kMetaspace) {
    step.replacement = fields.get_string("replacement", "\u2581");
    step.prepend = read_prepend(fields, where + ": Metaspace");
    step.split = fields.get_bool("split", true);
  } else if (step.kind == PreTokenizerStep::Kind::kByteLevel) {
    step.add_prefix_space = fields.get_bool("add_prefix_space", true);
    step.use_regex = fields.get_bool("use_regex", true);
  }
  steps->push_back(std::move(step));
}

}  // namespace

std::vector<PreTokenizerStep> read_pre_tokenizer(const Json* value, const std::string& file) {
  std::vector<PreTokenizerStep> steps;
  if (value != nullptr) append_pre_tokenizer(*value, file, &steps);
  return steps;
}

}  // namespace embert::convert
