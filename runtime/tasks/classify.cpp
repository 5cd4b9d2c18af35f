// SPDX-License-Identifier: Apache-2.0
// Classification: labels with their scores, best first.
#include "runtime/tasks/label_ranking.hpp"
#include "runtime/tasks/ranking.hpp"

namespace embert {

LabelRanking begin_label_ranking(embert_labels* labels, size_t wanted, LogitRatio ratio) {
  labels->count = 0;
  return {labels, wanted, begin_log_sum(ratio)};
}

void announce_label(LabelRanking* ranking, int32_t logit) { raise_log_sum(&ranking->sum, logit); }

void add_label(LabelRanking* ranking, uint32_t label, int32_t logit) {
  add_to_log_sum(&ranking->sum, logit);
  insert_ranked(
      ranking->labels->items, ranking->wanted, &ranking->labels->count, {label, logit, 0},
      [](const embert_label_score& a, const embert_label_score& b) { return a.logit > b.logit; });
}

void finish_label_ranking(const LabelRanking& ranking, embert_scale scale,
                          embert_score_function function) {
  embert_labels& labels = *ranking.labels;
  labels.scale = scale;
  if (function == EMBERT_SCORE_NONE) return;
  const embert_log_sum total = finish_log_sum(ranking.sum);
  for (size_t i = 0; i < labels.count; ++i) {
    embert_label_score& label = labels.items[i];
    if (function == EMBERT_SCORE_SOFTMAX) {
      label.score = exp2_q30(softmax_octaves(total, label.logit, ranking.sum.ratio));
    } else {
      embert_sigmoid_q30(&label.logit, 1, scale, &label.score);
    }
  }
}

}  // namespace embert

embert_score_function embert_default_score_function(embert_problem problem, uint32_t num_labels) {
  if (num_labels == 1 || problem == EMBERT_PROBLEM_MULTI_LABEL) return EMBERT_SCORE_SIGMOID;
  return problem == EMBERT_PROBLEM_REGRESSION ? EMBERT_SCORE_NONE : EMBERT_SCORE_SOFTMAX;
}

embert_status embert_rank_labels(const embert_logits* logits, embert_score_function function,
                                 size_t top_k, embert_labels* labels) {
  using namespace embert;
  if (logits == nullptr || logits->values == nullptr || labels == nullptr ||
      labels->items == nullptr) {
    return EMBERT_STATUS_NULL_ARGUMENT;
  }
  const size_t n = logits->count;
  LogitRatio ratio;
  if (static_cast<uint32_t>(function) > EMBERT_SCORE_NONE || n > kMaxSoftmaxLogits ||
      !make_logit_ratio(logits->scale, &ratio)) {
    return EMBERT_STATUS_INVALID_OPTION;
  }
  if (n == 0) return EMBERT_STATUS_EMPTY_INPUT;
  const size_t wanted = top_k == 0 || top_k > n ? n : top_k;
  if (labels->capacity < wanted) {
    labels->count = wanted;
    return EMBERT_STATUS_BUFFER_TOO_SMALL;
  }
  LabelRanking ranking = begin_label_ranking(labels, wanted, ratio);
  for (size_t i = 0; i < n; ++i) announce_label(&ranking, logits->values[i]);
  for (size_t i = 0; i < n; ++i) {
    add_label(&ranking, static_cast<uint32_t>(i), logits->values[i]);
  }
  finish_label_ranking(ranking, logits->scale, function);
  return EMBERT_STATUS_OK;
}
