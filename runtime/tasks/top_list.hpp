// SPDX-License-Identifier: Apache-2.0
// The best of a vocabulary whose logits come in blocks: a list and the softmax's denominator, in
// place of a buffer as long as the vocabulary.
#pragma once

#include "runtime/tasks/log_sum.hpp"

namespace embert {

struct TopList {
  embert_candidate* candidates;  ///< [capacity], best first
  size_t capacity;               ///< may be 0: only the denominator
  size_t count;
  LogSum sum;
};

TopList begin_top_list(embert_candidate* candidates, size_t capacity, LogitRatio ratio);

/// logits [n] of the words first_id, first_id + 1 ..., at most kMaxSoftmaxLogits in all. Blocks
/// come in the order of their ids, so that of equal logits the lowest id stays first.
void add_to_top_list(TopList* list, const int32_t* logits, size_t n, int32_t first_id);

/// Fills in the scores. At least one logit was added.
embert_log_sum finish_top_list(TopList* list);

/// A candidate's score and log2_score from its logit, which is not above sum.highest.
void score_candidate(embert_candidate* candidate, const embert_log_sum& sum, LogitRatio ratio);

}  // namespace embert
