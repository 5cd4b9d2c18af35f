// SPDX-License-Identifier: Apache-2.0
#include "runtime/tasks/top_list.hpp"

#include "runtime/tasks/ranking.hpp"

namespace embert {

TopList begin_top_list(embert_candidate* candidates, size_t capacity, LogitRatio ratio) {
  return {candidates, capacity, 0, begin_log_sum(ratio)};
}

void add_to_top_list(TopList* list, const int32_t* logits, size_t n, int32_t first_id) {
  // Scales the denominator once a block, not with each new highest logit.
  for (size_t i = 0; i < n; ++i) raise_log_sum(&list->sum, logits[i]);
  for (size_t i = 0; i < n; ++i) {
    add_to_log_sum(&list->sum, logits[i]);
    insert_ranked(
        list->candidates, list->capacity, &list->count,
        {first_id + static_cast<int32_t>(i), logits[i], 0, 0},
        [](const embert_candidate& a, const embert_candidate& b) { return a.logit > b.logit; });
  }
}

embert_log_sum finish_top_list(TopList* list) {
  const embert_log_sum sum = finish_log_sum(list->sum);
  for (size_t i = 0; i < list->count; ++i)
    score_candidate(&list->candidates[i], sum, list->sum.ratio);
  return sum;
}

void score_candidate(embert_candidate* candidate, const embert_log_sum& sum, LogitRatio ratio) {
  const uint64_t octaves = softmax_octaves(sum, candidate->logit, ratio);
  candidate->score = exp2_q30(octaves);
  candidate->log2_score = -static_cast<embert_log2_q26>(octaves);
}

}  // namespace embert
