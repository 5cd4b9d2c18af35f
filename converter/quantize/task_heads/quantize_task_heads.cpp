// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/task_heads/quantize_task_heads.hpp"

#include <algorithm>

#include "converter/quantize/encode_integers.hpp"
#include "converter/quantize/two_planes.hpp"

namespace embert::convert {
namespace {

constexpr double kPoolerScale = 0x1p-12;
constexpr double kPooledScale = 1.0 / 28672;  // tanh in Q12, times 7 to use 16 bits

std::uint32_t blob_task(ClassifierTask task) {
  switch (task) {
    case ClassifierTask::kNone:
    case ClassifierTask::kSequenceClassification:
      return kTaskSequence;
    case ClassifierTask::kNextSentence:
      return kTaskNextSentence;
    case ClassifierTask::kMultipleChoice:
      return kTaskMultipleChoice;
  }
  return kTaskSequence;
}

// Logits have 24 bits for twice the largest calibrated one, or fewer where the factor after the sum
// would reach kMaxFactor.
float choose_logits_scale(float largest, const Linear& linear, double input_scale) {
  const double reach = largest > 0 ? static_cast<double>(largest) : 1.0;
  const float most = largest_magnitude(linear.weight.data);
  const double sum_scale = planes_quant(linear.weight.cols, input_scale).scale;
  return static_cast<float>(
      std::max(2 * reach * 0x1p-24, sum_scale * static_cast<double>(most) / 127 * 0x1p-14));
}

}  // namespace

void quantize_task_heads(const TaskHeadSource& source, const Dense16Rounding& rounding,
                         QuantizedModel& out) {
  const auto& [config, weights, ranges, hidden_scale] = source;
  out.classifier_task = blob_task(config.classifier);
  out.problem = static_cast<std::uint32_t>(config.problem_type);
  out.token_task =
      config.token_classifier == TokenTask::kQuestionAnswering ? kTaskAnswer : kTaskTokens;
  if (weights.pooler) {
    out.pooler = quantize_dense16({.linear = *weights.pooler,
                                   .rows = ranges.first_hidden,
                                   .input_scale = hidden_scale,
                                   .output_scale = kPoolerScale,
                                   .name = "pooler"},
                                  rounding);
    out.pooled_scale = static_cast<float>(kPooledScale);
  }
  if (weights.classifier) {
    out.num_labels = static_cast<std::uint32_t>(weights.classifier->bias.size());
    out.logits_scale = choose_logits_scale(ranges.logits, *weights.classifier, kPooledScale);
    out.classifier = quantize_dense16({.linear = *weights.classifier,
                                       .rows = ranges.pooled,
                                       .input_scale = kPooledScale,
                                       .output_scale = static_cast<double>(out.logits_scale),
                                       .name = "classifier"},
                                      rounding);
  }
  if (weights.token_classifier) {
    const Linear& linear = *weights.token_classifier;
    out.num_token_labels = static_cast<std::uint32_t>(linear.bias.size());
    out.token_logits_scale = choose_logits_scale(ranges.token_logits, linear, hidden_scale);
    out.token_classifier =
        quantize_dense16({.linear = linear,
                          .rows = ranges.token_hidden,
                          .input_scale = hidden_scale,
                          .output_scale = static_cast<double>(out.token_logits_scale),
                          .name = "token_classifier"},
                         rounding);
  }
}

}  // namespace embert::convert
