// SPDX-License-Identifier: Apache-2.0
// Probabilities of logits.
#include "runtime/tasks/log_sum.hpp"
#include "runtime/tasks/ranking.hpp"

namespace embert {
namespace {

/// Indices of values have 32 bits.
constexpr size_t kMaxValues = size_t{1} << 31;

void softmax_row(const int32_t* logits, size_t n, LogitRatio ratio, embert_q30* scores) {
  LogSum sum = begin_log_sum(ratio);
  for (size_t i = 0; i < n; ++i) raise_log_sum(&sum, logits[i]);
  for (size_t i = 0; i < n; ++i) add_to_log_sum(&sum, logits[i]);
  const embert_log_sum total = finish_log_sum(sum);
  for (size_t i = 0; i < n; ++i) scores[i] = exp2_q30(softmax_octaves(total, logits[i], ratio));
}

/// 1 / (1 + e^-x): the softmax of x and 0.
embert_q30 sigmoid(int32_t logit, LogitRatio ratio) {
  const int32_t both[2] = {logit, 0};
  embert_q30 scores[2];
  softmax_row(both, 2, ratio, scores);
  return scores[0];
}

}  // namespace
}  // namespace embert

embert_q30 embert_q30_of_log2(embert_log2_q26 log2_score) {
  return log2_score >= 0 ? EMBERT_Q30_ONE
                         : embert::exp2_q30(uint64_t{0} - static_cast<uint64_t>(log2_score));
}

embert_status embert_softmax_q30(const int32_t* logits, size_t rows, size_t n, embert_scale scale,
                                 embert_q30* scores) {
  using namespace embert;
  if (logits == nullptr || scores == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  LogitRatio ratio;
  if (n > kMaxSoftmaxLogits || !make_logit_ratio(scale, &ratio))
    return EMBERT_STATUS_INVALID_OPTION;
  if (rows == 0 || n == 0) return EMBERT_STATUS_EMPTY_INPUT;
  for (size_t row = 0; row < rows; ++row) softmax_row(logits + row * n, n, ratio, scores + row * n);
  return EMBERT_STATUS_OK;
}

embert_status embert_sigmoid_q30(const int32_t* logits, size_t n, embert_scale scale,
                                 embert_q30* scores) {
  using namespace embert;
  if (logits == nullptr || scores == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  LogitRatio ratio;
  if (!make_logit_ratio(scale, &ratio)) return EMBERT_STATUS_INVALID_OPTION;
  if (n == 0) return EMBERT_STATUS_EMPTY_INPUT;
  for (size_t i = 0; i < n; ++i) scores[i] = sigmoid(logits[i], ratio);
  return EMBERT_STATUS_OK;
}

embert_status embert_top_k(const int32_t* values, size_t n, size_t k, uint32_t* indices,
                           size_t* count) {
  using namespace embert;
  if (values == nullptr || indices == nullptr || count == nullptr)
    return EMBERT_STATUS_NULL_ARGUMENT;
  if (k == 0 || n > kMaxValues) return EMBERT_STATUS_INVALID_OPTION;
  if (n == 0) return EMBERT_STATUS_EMPTY_INPUT;
  *count = 0;
  for (size_t i = 0; i < n; ++i) {
    insert_ranked(indices, k, count, static_cast<uint32_t>(i),
                  [values](uint32_t a, uint32_t b) { return values[a] > values[b]; });
  }
  return EMBERT_STATUS_OK;
}
