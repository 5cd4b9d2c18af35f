// SPDX-License-Identifier: Apache-2.0
// The denominator of a softmax, summed up while the logits stream by.
#pragma once

#include "runtime/tasks/fixed_math.hpp"

namespace embert {

/// Most logits of one softmax: in Q40 the sum of so many ones fits 63 bits.
constexpr size_t kMaxSoftmaxLogits = size_t{1} << 23;

/// The sum of e^(logit * scale), relative to that of the highest logit.
struct LogSum {
  LogitRatio ratio;
  int32_t highest;
  uint64_t sum_q40;
};

static inline LogSum begin_log_sum(LogitRatio ratio) { return {ratio, INT32_MIN, 0}; }

/// Must be called for a logit before it is added: it may be the highest so far.
static inline void raise_log_sum(LogSum* sum, int32_t logit) {
  if (logit <= sum->highest) return;
  const uint64_t octaves = octaves_q26(logit_distance(logit, sum->highest), sum->ratio);
  sum->sum_q40 = times_exp2(sum->sum_q40, octaves);
  sum->highest = logit;
}

/// logit <= highest.
static inline void add_to_log_sum(LogSum* sum, int32_t logit) {
  sum->sum_q40 += exp2_q40(octaves_q26(logit_distance(sum->highest, logit), sum->ratio));
}

/// The highest logit must have been added, so the sum is at least 1.
static inline embert_log_sum finish_log_sum(const LogSum& sum) {
  const uint64_t log2_sum = log2_q26(sum.sum_q40) - (uint64_t{40} << 26);
  return {sum.highest, static_cast<uint32_t>(log2_sum)};
}

/// Minus log2 of a logit's probability in Q26.
static inline uint64_t softmax_octaves(const embert_log_sum& sum, int32_t logit, LogitRatio ratio) {
  return octaves_q26(logit_distance(sum.highest, logit), ratio) + sum.log2_sum_q26;
}

}  // namespace embert
