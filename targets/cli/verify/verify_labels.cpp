// SPDX-License-Identifier: Apache-2.0
// Lines of a text, or of two, and a label: accuracy and F1 of a classifier.
#include <algorithm>
#include <memory>

#include "targets/cli/io/text_file.hpp"
#include "targets/cli/verify/labelled_task.hpp"

namespace embert::cli {
namespace {

struct LabelState {
  std::vector<LabelledText> texts;
  std::vector<int32_t> right, float32, int8;  ///< [texts]
};

template <typename T>
int32_t index_of_largest(std::span<const T> logits) {
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

Json differing_texts(const ModelFile& file, const LabelState& state) {
  Json differing = Json::array();
  for (size_t i = 0; i < state.texts.size(); ++i) {
    if (state.float32[i] == state.int8[i]) continue;
    Json entry = {{"line", i + 1}, {"text", state.texts[i].text}};
    if (state.texts[i].pair) entry["pair"] = *state.texts[i].pair;
    if (!state.right.empty()) entry["right"] = state.texts[i].label;
    entry["float32"] = compared_label(file, state.float32[i]);
    entry["int8"] = compared_label(file, state.int8[i]);
    differing.push_back(std::move(entry));
  }
  return differing;
}

TaskMeasure measure_labels(const ModelFile& file, const LabelState& state) {
  const LabelQuality quality = label_quality({state.right, state.float32, state.int8});
  return {{{"accuracy", both_json(quality.accuracy)},
           {"f1_macro", both_json(quality.f1_macro)},
           {"differing", differing_texts(file, state)}},
          quality.loss};
}

convert::SeeText see_labels(const std::shared_ptr<LabelState>& state) {
  return [state](const convert::ComparedText& text) {
    state->float32.push_back(index_of_largest(text.float32));
    state->int8.push_back(index_of_largest(text.int8));
  };
}

}  // namespace

LabelledTask label_task(const ModelFile& file, const std::string& path) {
  const auto state = std::make_shared<LabelState>();
  state->texts = read_labelled(path, LabelledForm::kEither);
  require_several_labels(path, state->texts);
  state->right = label_indices(file, path, state->texts);
  LabelledTask task;
  for (size_t i = 0; i < state->texts.size(); ++i) {
    const LabelledText& entry = state->texts[i];
    add_text(task, file, {entry.text, entry.pair}, line_of(path, i));
    task.texts.add(entry.text);
  }
  task.see = see_labels(state);
  task.measure = [state, &file] { return measure_labels(file, *state); };
  return task;
}

void compare_answers(const ModelFile& file, const std::vector<std::string>& lines,
                     LabelledTask& task) {
  const auto state = std::make_shared<LabelState>();
  for (const std::string& line : lines) state->texts.push_back({.text = line});
  task.see = see_labels(state);
  task.differing = [state, &file] { return differing_texts(file, *state); };
}

}  // namespace embert::cli
