// SPDX-License-Identifier: Apache-2.0
// Candidates for a masked token: the best of the vocabulary, or given ones.
#include "runtime/tasks/ranking.hpp"
#include "runtime/tasks/top_list.hpp"

embert_status embert_top_candidates(const embert_logits* logits, embert_candidates* best,
                                    embert_log_sum* log_sum) {
  using namespace embert;
  if (logits == nullptr || logits->values == nullptr || best == nullptr || best->items == nullptr) {
    return EMBERT_STATUS_NULL_ARGUMENT;
  }
  LogitRatio ratio;
  if (best->capacity == 0 || logits->count > kMaxSoftmaxLogits ||
      !make_logit_ratio(logits->scale, &ratio)) {
    return EMBERT_STATUS_INVALID_OPTION;
  }
  if (logits->count == 0) return EMBERT_STATUS_EMPTY_INPUT;
  TopList list = begin_top_list(best->items, best->capacity, ratio);
  add_to_top_list(&list, logits->values, logits->count, 0);
  const embert_log_sum sum = finish_top_list(&list);
  best->count = list.count;
  if (log_sum != nullptr) *log_sum = sum;
  return EMBERT_STATUS_OK;
}

embert_status embert_score_candidates(embert_candidates* candidates, const embert_log_sum* log_sum,
                                      embert_scale scale) {
  using namespace embert;
  if (candidates == nullptr || candidates->items == nullptr || log_sum == nullptr) {
    return EMBERT_STATUS_NULL_ARGUMENT;
  }
  LogitRatio ratio;
  if (!make_logit_ratio(scale, &ratio)) return EMBERT_STATUS_INVALID_OPTION;
  if (candidates->count == 0) return EMBERT_STATUS_EMPTY_INPUT;
  for (size_t i = 0; i < candidates->count; ++i) {
    if (candidates->items[i].logit > log_sum->highest) return EMBERT_STATUS_INVALID_OPTION;
  }
  for (size_t i = 0; i < candidates->count; ++i) {
    score_candidate(&candidates->items[i], *log_sum, ratio);
  }
  return EMBERT_STATUS_OK;
}

embert_status embert_rank_candidates(embert_candidates* candidates) {
  using namespace embert;
  if (candidates == nullptr || candidates->items == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  const size_t given = candidates->count;
  if (given == 0) return EMBERT_STATUS_EMPTY_INPUT;
  embert_candidate* items = candidates->items;
  size_t kept = 0;
  for (size_t i = 0; i < given; ++i) {
    const embert_candidate candidate = items[i];
    size_t same = 0;
    while (same < kept && items[same].id != candidate.id) ++same;
    if (same < kept) continue;
    insert_ranked(items, given, &kept, candidate,
                  [](const embert_candidate& a, const embert_candidate& b) {
                    return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
                  });
  }
  candidates->count = kept;
  return EMBERT_STATUS_OK;
}
