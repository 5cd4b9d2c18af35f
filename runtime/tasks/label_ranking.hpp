// SPDX-License-Identifier: Apache-2.0
// The best labels of a classifier whose logits come one by one, twice: no buffer holds them all.
#pragma once

#include "embert/embert_tasks.h"
#include "runtime/tasks/log_sum.hpp"

namespace embert {

struct LabelRanking {
  embert_labels* labels;  ///< takes the best labels, best first
  size_t wanted;          ///< at most labels->capacity
  LogSum sum;
};

/// Begins with an empty list.
LabelRanking begin_label_ranking(embert_labels* labels, size_t wanted, LogitRatio ratio);

/// First all logits are announced, so that the softmax's denominator is scaled by the highest.
void announce_label(LabelRanking* ranking, int32_t logit);
/// Then each is added, in the order of the labels, so that of equal logits the first label is
/// first.
void add_label(LabelRanking* ranking, uint32_t label, int32_t logit);

/// Fills in the scores. scale: that of the ratio.
void finish_label_ranking(const LabelRanking& ranking, embert_scale scale,
                          embert_score_function function);

}  // namespace embert
