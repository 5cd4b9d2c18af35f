// SPDX-License-Identifier: Apache-2.0
// The best tokens of a vocabulary whose logits come in blocks. A list and the softmax's denominator
// replace a buffer as long as the vocabulary.
#pragma once

#include "runtime/tasks/log_sum.hpp"

namespace embert {

struct TopList {
  embert_candidate* candidates;  ///< [capacity], best first
  size_t capacity;               ///< 0: only the denominator is wanted
  size_t count;
  LogSum sum;
};

TopList begin_top_list(embert_candidate* candidates, size_t capacity, LogitRatio ratio);

/// Adds logits [n] of the tokens first_id, first_id + 1, ...; at most kMaxSoftmaxLogits in all.
/// Blocks must come in the order of their ids, so that of equal logits the lowest id stays first.
void add_to_top_list(TopList* list, const int32_t* logits, size_t n, int32_t first_id);

/// Fills in the scores. At least one logit must have been added.
embert_log_sum finish_top_list(TopList* list);

/// Sets a candidate's score and log2_score from its logit, which must not be above sum.highest.
void score_candidate(embert_candidate* candidate, const embert_log_sum& sum, LogitRatio ratio);

}  // namespace embert
