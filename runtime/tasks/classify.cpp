// SPDX-License-Identifier: Apache-2.0
// Classification: labels with their scores, best first.
#include "runtime/tasks/log_sum.hpp"
#include "runtime/tasks/ranking.hpp"

embert_score_function embert_default_score_function(embert_problem problem, uint32_t num_labels) {
  return problem == EMBERT_PROBLEM_MULTI_LABEL || num_labels == 1 ? EMBERT_SCORE_SIGMOID
                                                                  : EMBERT_SCORE_SOFTMAX;
}

embert_status embert_rank_labels(const int32_t* logits, size_t num_labels, embert_scale scale,
                                 embert_score_function function, size_t top_k,
                                 embert_label_score* labels, size_t capacity, size_t* count) {
  using namespace embert;
  if (logits == nullptr || labels == nullptr || count == nullptr)
    return EMBERT_STATUS_NULL_ARGUMENT;
  LogitRatio ratio;
  if (static_cast<uint32_t>(function) > EMBERT_SCORE_NONE || num_labels > kMaxSoftmaxLogits ||
      !make_logit_ratio(scale, &ratio)) {
    return EMBERT_STATUS_INVALID_OPTION;
  }
  if (num_labels == 0) return EMBERT_STATUS_EMPTY_INPUT;
  const size_t wanted = top_k == 0 || top_k > num_labels ? num_labels : top_k;
  *count = wanted;
  if (capacity < wanted) return EMBERT_STATUS_BUFFER_TOO_SMALL;

  LogSum sum = begin_log_sum(ratio);
  for (size_t i = 0; i < num_labels; ++i) raise_log_sum(&sum, logits[i]);
  *count = 0;
  for (size_t i = 0; i < num_labels; ++i) {
    add_to_log_sum(&sum, logits[i]);
    insert_ranked(
        labels, wanted, count, {static_cast<uint32_t>(i), logits[i], 0},
        [](const embert_label_score& a, const embert_label_score& b) { return a.logit > b.logit; });
  }
  const embert_log_sum total = finish_log_sum(sum);
  for (size_t i = 0; i < *count && function != EMBERT_SCORE_NONE; ++i) {
    if (function == EMBERT_SCORE_SOFTMAX) {
      labels[i].score = exp2_q30(softmax_octaves(total, labels[i].logit, ratio));
    } else {
      embert_sigmoid_q30(&labels[i].logit, 1, scale, &labels[i].score);
    }
  }
  return EMBERT_STATUS_OK;
}
