// SPDX-License-Identifier: Apache-2.0
// Candidates for a masked token: the best of the vocabulary, or given ones.
#include "runtime/tasks/ranking.hpp"
#include "runtime/tasks/top_list.hpp"

embert_status embert_top_candidates(const int32_t* logits, size_t n, embert_scale scale,
                                    size_t top_k, embert_candidate* candidates, size_t* count,
                                    embert_log_sum* log_sum) {
  using namespace embert;
  if (logits == nullptr || candidates == nullptr || count == nullptr)
    return EMBERT_STATUS_NULL_ARGUMENT;
  LogitRatio ratio;
  if (top_k == 0 || n > kMaxSoftmaxLogits || !make_logit_ratio(scale, &ratio)) {
    return EMBERT_STATUS_INVALID_OPTION;
  }
  if (n == 0) return EMBERT_STATUS_EMPTY_INPUT;
  TopList list = begin_top_list(candidates, top_k, ratio);
  add_to_top_list(&list, logits, n, 0);
  const embert_log_sum sum = finish_top_list(&list);
  *count = list.count;
  if (log_sum != nullptr) *log_sum = sum;
  return EMBERT_STATUS_OK;
}

embert_status embert_score_candidates(embert_candidate* candidates, size_t n,
                                      const embert_log_sum* log_sum, embert_scale scale) {
  using namespace embert;
  if (candidates == nullptr || log_sum == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  LogitRatio ratio;
  if (!make_logit_ratio(scale, &ratio)) return EMBERT_STATUS_INVALID_OPTION;
  if (n == 0) return EMBERT_STATUS_EMPTY_INPUT;
  for (size_t i = 0; i < n; ++i) {
    if (candidates[i].logit > log_sum->highest) return EMBERT_STATUS_INVALID_OPTION;
  }
  for (size_t i = 0; i < n; ++i) score_candidate(&candidates[i], *log_sum, ratio);
  return EMBERT_STATUS_OK;
}

embert_status embert_rank_candidates(embert_candidate* candidates, size_t* count) {
  using namespace embert;
  if (candidates == nullptr || count == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  if (*count == 0) return EMBERT_STATUS_EMPTY_INPUT;
  const size_t given = *count;
  size_t kept = 0;
  for (size_t i = 0; i < given; ++i) {
    const embert_candidate candidate = candidates[i];
    size_t same = 0;
    while (same < kept && candidates[same].id != candidate.id) ++same;
    if (same < kept) continue;
    insert_ranked(candidates, given, &kept, candidate,
                  [](const embert_candidate& a, const embert_candidate& b) {
                    return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
                  });
  }
  *count = kept;
  return EMBERT_STATUS_OK;
}
