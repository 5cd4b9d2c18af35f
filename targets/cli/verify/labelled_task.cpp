// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>

#include "embert/embert_tasks.h"
#include "targets/cli/io/messages.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/verify/labelled_task.hpp"

namespace embert::cli {
namespace {

constexpr size_t kMostDifferingLines = 20;  // without --json

/// A label, a number, or right answers with bars between.
std::string shown(const Json& value) {
  if (value.is_number()) return fixed(value.get<double>(), 4);
  if (value.is_string()) {
    return value.empty() || value == "" ? "nothing" : one_line(value.get<std::string>());
  }
  std::string list;
  for (const Json& entry : value) list += (list.empty() ? "" : " | ") + shown(entry);
  return list;
}

void write_differing(const Json& differing) {
  const size_t count = differing.size();
  output().line("differing    " + std::to_string(count) +
                (count > kMostDifferingLines
                     ? ", the first " + std::to_string(kMostDifferingLines) + " of them"
                     : ""));
  for (size_t i = 0; i < std::min(count, kMostDifferingLines); ++i) {
    const Json& entry = differing[i];
    output().line("  line " + entry["line"].dump() + ": " + shown(entry["right"]) + ", float32 " +
                  shown(entry["float32"]) + ", int8 " + shown(entry["int8"]) + ": " +
                  one_line(entry["text"].get<std::string>().substr(0, 100)));
  }
}

}  // namespace

LabelledTask labelled_task(const ModelFile& file, const std::string& path) {
  const embert_model_info& info = file.info();
  if (info.cross_hidden_size == 0 && info.has_lm == 0) {
    if (info.num_token_labels > 0) {
      return info.token_task == EMBERT_TOKENS_ANSWER ? span_task(file, path) : tag_task(file, path);
    }
    if (info.num_labels == 0) return score_task(file, path);
    if (info.classifier_task != EMBERT_CLASSIFIER_MULTIPLE_CHOICE) {
      if (info.num_labels == 1) return score_task(file, path);
      if (info.problem == EMBERT_PROBLEM_SINGLE_LABEL) return label_task(file, path);
    }
  }
  throw UsageError("--labelled: " + quoted_path(file.path()) +
                   " is for another task than classes, scores, answers, tags and vectors; give "
                   "--texts");
}

void add_text(LabelledTask& task, const ModelFile& file, const TextItem& item,
              const std::string& where) {
  const TextTokens tokens = tokenize_text(*file.model(), item, file.info().max_tokens);
  if (tokens.ids.empty()) throw InputError(where + ": the text has no token");
  add_tokens(task.tokens, tokens);
}

Json answers_json(const char* kind, size_t count, size_t differing) {
  return {{"kind", kind}, {"count", count}, {"differing", differing}};
}

double agreement_of(size_t answers, size_t differing) {
  return answers == 0 ? 1 : static_cast<double>(answers - differing) / static_cast<double>(answers);
}

Json both_json(const BothModels& both) { return {{"float32", both.float32}, {"int8", both.int8}}; }

Json with_verdict(const TaskMeasure& measure, const std::optional<double>& max_loss) {
  Json json = measure.json;
  json["loss"] = measure.loss.value;
  json["loss_interval"] = {measure.loss.low, measure.loss.high};
  if (max_loss) {
    json["max_loss"] = *max_loss;
    json["verdict"] = measure.loss.value <= *max_loss ? "pass" : "fail";
  }
  return json;
}

void write_measure(const Json& json) {
  for (const auto& [name, value] : json.items()) {
    if (!value.is_object() || name == "answers") continue;
    std::string line = name;
    line.resize(13, ' ');
    output().line(line + "float32 " + fixed(value["float32"].get<double>(), 4) + ", int8 " +
                  fixed(value["int8"].get<double>(), 4));
  }
  output().line("loss         " + fixed(json["loss"].get<double>(), 4) + ", with 95 % confidence " +
                fixed(json["loss_interval"][0].get<double>(), 4) + " to " +
                fixed(json["loss_interval"][1].get<double>(), 4));
  write_differing(json["differing"]);
  if (json.contains("verdict")) {
    const bool passed = json["verdict"] == "pass";
    output().line("verdict      " +
                  coloured(json["verdict"].get<std::string>(),
                           passed ? Colour::kGreen : Colour::kRed, STDOUT_FILENO) +
                  ": at most " + fixed(json["max_loss"].get<double>(), 4) + " may be lost");
  }
}

}  // namespace embert::cli
