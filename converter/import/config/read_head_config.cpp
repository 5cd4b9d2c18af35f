// SPDX-License-Identifier: Apache-2.0
// The family lists the task heads of each architecture.
#include "converter/import/config/read_head_config.hpp"

#include <algorithm>
#include <string_view>

namespace embert::convert {
namespace {

// id2label is an object {"0": name, "1": name, ...}. Without it there are num_labels labels, by
// default 2, as in transformers.
std::vector<std::string> read_label_names(const JsonFields& config) {
  const Json* labels = config.find("id2label");
  std::vector<std::string> names;
  if (labels == nullptr) {
    const auto count = config.get_int("num_labels", 1, kMaxLabels, 2);
    for (std::int64_t i = 0; i < count; ++i) names.push_back("LABEL_" + std::to_string(i));
    return names;
  }
  const std::string where = config.file() + ": id2label";
  if (!labels->is_object() || labels->empty() || labels->size() > kMaxLabels) {
    throw ConvertError(where + " must be an object with 1 to " + std::to_string(kMaxLabels) +
                       " names, found " + describe_json(*labels));
  }
  for (std::size_t i = 0; i < labels->size(); ++i) {
    const auto at = labels->find(std::to_string(i));
    if (at == labels->end()) {
      throw ConvertError(where + " has " + std::to_string(labels->size()) +
                         " names, but none for \"" + std::to_string(i) + "\"");
    }
    if (!at->is_string() && !at->is_number_integer()) {
      throw ConvertError(where + ": \"" + std::to_string(i) + "\" must be a string, found " +
                         describe_json(*at));
    }
    names.push_back(at->is_string() ? at->get<std::string>() : at->dump());
  }
  const auto count = static_cast<std::int64_t>(names.size());
  if (config.get_int("num_labels", 1, kMaxLabels, count) != count) {
    throw ConvertError(where + " has " + std::to_string(count) + " names, but num_labels is " +
                       describe_json(*config.find("num_labels")));
  }
  return names;
}

ProblemType read_problem_type(const JsonFields& config, std::size_t labels) {
  // Without the field the number of labels decides, as in transformers.
  const std::string name =
      config.get_string("problem_type", labels == 1 ? "regression" : "single_label_classification");
  if (name == "single_label_classification") return ProblemType::kSingleLabel;
  if (name == "multi_label_classification") return ProblemType::kMultiLabel;
  if (name == "regression") return ProblemType::kRegression;
  throw ConvertError(config.file() + ": problem_type \"" + printable(name) +
                     "\" is unknown; expected single_label_classification, "
                     "multi_label_classification or regression");
}

// Heads with a fixed number of outputs get label names of our own.
void read_labels(const JsonFields& config, ModelConfig& out) {
  switch (out.classifier) {
    case ClassifierTask::kNone:
      break;
    case ClassifierTask::kSequenceClassification:
      out.label_names = read_label_names(config);
      out.problem_type = read_problem_type(config, out.label_names.size());
      break;
    case ClassifierTask::kNextSentence:
      out.label_names = {"is_next", "not_next"};
      break;
    case ClassifierTask::kMultipleChoice:
      out.label_names = {"choice"};
      break;
  }
  switch (out.token_classifier) {
    case TokenTask::kNone:
      break;
    case TokenTask::kTokenClassification:
      out.label_names = read_label_names(config);
      break;
    case TokenTask::kQuestionAnswering:
      out.label_names = {"start", "end"};
      break;
    case TokenTask::kReplacedToken:
      out.label_names = {"O", "replaced"};
      break;
  }
}

// sentence-transformers keeps the function behind a cross-encoder's logit in either of two places.
void warn_of_logits(const JsonFields& config, std::vector<std::string>& warnings) {
  std::string function = config.get_string("sbert_ce_default_activation_function", "");
  if (const Json* own = config.find("sentence_transformers")) {
    function = JsonFields(*own, config.file() + ": sentence_transformers")
                   .get_string("activation_fn", function);
  }
  if (!function.ends_with("Identity")) return;
  warnings.push_back(config.file() +
                     ": sentence-transformers gives this model's logits, embert their sigmoids, "
                     "which have the same order; for logits use --function none, in Python "
                     "activation_fn=\"none\"");
}

}  // namespace

std::vector<std::string> read_architectures(const JsonFields& config) {
  std::vector<std::string> names;
  const Json* list = config.find("architectures");
  if (list == nullptr) return names;
  const bool strings = list->is_array() && std::ranges::all_of(*list, [](const Json& name) {
                         return name.is_string();
                       });
  if (!strings) {
    throw ConvertError(config.file() + ": \"architectures\" must be an array of strings, found " +
                       describe_json(*list));
  }
  for (const Json& name : *list) names.push_back(name.get<std::string>());
  return names;
}

void read_head_config(const JsonFields& config, const Family& family, ModelConfig& out,
                      std::vector<std::string>& warnings) {
  const std::vector<std::string> architectures = read_architectures(config);
  if (family.read_head_options != nullptr) family.read_head_options(config, out);
  if (architectures.empty()) return;
  const auto found = std::ranges::find(family.architectures, architectures[0], &Architecture::name);
  if (found == family.architectures.end()) {
    warnings.push_back(config.file() + ": head of architecture " + printable(architectures[0]) +
                       " is not supported; converted without");
    return;
  }
  out.classifier = found->classifier;
  out.token_classifier = found->token_classifier;
  out.language_head = found->language_head;
  read_labels(config, out);
  if (out.classifier == ClassifierTask::kSequenceClassification && out.label_names.size() == 1) {
    warn_of_logits(config, warnings);
  }
}

}  // namespace embert::convert
