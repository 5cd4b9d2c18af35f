// SPDX-License-Identifier: Apache-2.0
// Lines of two texts and a score: Spearman's correlation of the scores with the cosines of a
// model's vectors, or with the logits of a model that has a single one, such as a cross-encoder.
// For the latter a line may have a text alone.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <numeric>

#include "targets/cli/io/text_file.hpp"
#include "targets/cli/verify/labelled_task.hpp"
#include "targets/hosted/model/model_prompts.hpp"

namespace embert::cli {
namespace {

constexpr size_t kMostDiffering = 20;  // all scores differ a little

struct ScoreState {
  std::vector<LabelledText> texts;
  PairScores scores;                              ///< [texts]
  std::vector<double> float_vector, int8_vector;  ///< of the first text of a pair
};

double score_of(const std::string& label, const std::string& where) {
  char* end = nullptr;
  const double score = std::strtod(label.c_str(), &end);
  if (label.empty() || *end != '\0' || !std::isfinite(score)) {
    throw InputError(where + ": expected a score in the last column, found \"" + one_line(label) +
                     "\", which is no number");
  }
  return score;
}

double cosine_of(const std::vector<double>& a, const std::vector<double>& b) {
  const double aa = std::inner_product(a.begin(), a.end(), a.begin(), 0.0);
  const double bb = std::inner_product(b.begin(), b.end(), b.begin(), 0.0);
  return aa == 0 || bb == 0
             ? 0
             : std::inner_product(a.begin(), a.end(), b.begin(), 0.0) / std::sqrt(aa * bb);
}

/// Texts 0 and 1, 2 and 3, ... are pairs.
void see_vector(const convert::ComparedText& text, ScoreState& state) {
  std::vector<double> by_float(text.float32.begin(), text.float32.end());
  std::vector<double> by_int8(text.int8.begin(), text.int8.end());
  if (text.text % 2 == 0) {
    state.float_vector = std::move(by_float);
    state.int8_vector = std::move(by_int8);
    return;
  }
  state.scores.float32.push_back(cosine_of(state.float_vector, by_float));
  state.scores.int8.push_back(cosine_of(state.int8_vector, by_int8));
}

TaskMeasure measure_scores(const ScoreState& state) {
  const PairScores& scores = state.scores;
  const auto difference = [&](size_t i) { return std::abs(scores.float32[i] - scores.int8[i]); };
  std::vector<size_t> order(state.texts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return difference(a) > difference(b); });
  order.resize(std::min(order.size(), kMostDiffering));
  Json differing = Json::array();
  for (const size_t i : order) {
    Json entry = {{"line", i + 1}, {"text", state.texts[i].text}};
    if (state.texts[i].pair) entry["pair"] = *state.texts[i].pair;
    entry["right"] = scores.gold[i];
    entry["float32"] = scores.float32[i];
    entry["int8"] = scores.int8[i];
    differing.push_back(std::move(entry));
  }
  const ScoreQuality quality = score_quality(scores);
  return {{{"spearman", both_json(quality.spearman)}, {"differing", std::move(differing)}},
          quality.loss};
}

}  // namespace

LabelledTask score_task(const ModelFile& file, const std::string& path) {
  const bool vectors = file.info().num_labels == 0;
  const auto state = std::make_shared<ScoreState>();
  state->texts = read_labelled(path, vectors ? LabelledForm::kPair : LabelledForm::kEither);
  require_several_labels(path, state->texts);
  const std::string prompt = vectors ? prompt_text(file, {}) : "";
  LabelledTask task;
  for (size_t i = 0; i < state->texts.size(); ++i) {
    const LabelledText& entry = state->texts[i];
    const std::string where = line_of(path, i);
    state->scores.gold.push_back(score_of(entry.label, where));
    task.texts.add(entry.text);
    if (!vectors) {
      add_text(task, file, {entry.text, entry.pair}, where);
      continue;
    }
    task.texts.add(*entry.pair);
    for (const std::string& text : {prompt + entry.text, prompt + *entry.pair}) {
      add_text(task, file, {text, {}}, where);
    }
  }
  task.see = [state, vectors](const convert::ComparedText& text) {
    if (vectors) return see_vector(text, *state);
    state->scores.float32.push_back(text.float32[0]);
    state->scores.int8.push_back(text.int8[0] * text.scale);
  };
  task.measure = [state] { return measure_scores(*state); };
  return task;
}

}  // namespace embert::cli
