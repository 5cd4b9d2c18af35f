// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/task_heads/quantize_task_heads.hpp"

#include <algorithm>
#include <utility>

#include "converter/quantize/encode_integers.hpp"
#include "converter/quantize/task_heads/quantize_transform.hpp"
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

const LayerNorm* pointer(const std::optional<LayerNorm>& norm) { return norm ? &*norm : nullptr; }

// Returns the scale of the pooled vector; 1 without one.
double quantize_pooler(const TaskHeadSource& source, const Dense16Rounding& rounding,
                       QuantizedModel& out) {
  const PooledConfig& pooled = source.config.pooled;
  out.pooled_as_is = !pooled.dense;
  if (out.pooled_as_is) return source.hidden_scale;
  if (!source.weights.pooler) return 1;
  const HeadTransform& pooler = *source.weights.pooler;
  if (pooled.act == HiddenAct::kTanh && !pooled.mean && !pooler.norm) {
    out.pooler.emplace().dense = quantize_dense16({.linear = pooler.dense,
                                                   .rows = source.ranges.pooler_input,
                                                   .input_scale = source.hidden_scale,
                                                   .output_scale = kPoolerScale,
                                                   .name = "pooler"},
                                                  rounding);
    return kPooledScale;
  }
  out.pooled_mean = pooled.mean;
  auto made = quantize_transform({.dense = pooler.dense,
                                  .norm = pointer(pooler.norm),
                                  .act = pooled.act,
                                  .epsilon = source.config.last().layer_norm_eps,
                                  .input = source.ranges.pooler_input,
                                  .input_scale = source.hidden_scale,
                                  .largest_sum = source.ranges.pooler_sum,
                                  .output = source.ranges.pooled,
                                  .least_output_scale = 0,
                                  .name = "pooler",
                                  .norm_name = "the LayerNorm of the pooled vector"},
                                 rounding);
  out.pooler = std::move(made.transform);
  return made.scale;
}

// Returns the scale of the rows that the token classifier reads.
double quantize_token_transform(const TaskHeadSource& source, const Dense16Rounding& rounding,
                                QuantizedModel& out) {
  if (!source.weights.token_transform) return source.hidden_scale;
  const HeadTransform& transform = *source.weights.token_transform;
  const StackConfig& stack = source.config.last();
  auto made = quantize_transform({.dense = transform.dense,
                                  .norm = pointer(transform.norm),
                                  .act = source.config.token_act.value_or(stack.hidden_act),
                                  .epsilon = stack.layer_norm_eps,
                                  .input = source.ranges.token_hidden,
                                  .input_scale = source.hidden_scale,
                                  .largest_sum = source.ranges.token_sum,
                                  .output = source.ranges.token_input,
                                  .least_output_scale = 0,
                                  .name = "token_transform",
                                  .norm_name = "the LayerNorm before the token classifier"},
                                 rounding);
  out.token_transform = std::move(made.transform);
  return made.scale;
}

}  // namespace

void quantize_task_heads(const TaskHeadSource& source, const Dense16Rounding& rounding,
                         QuantizedModel& out) {
  const auto& [config, weights, ranges, hidden_scale] = source;
  out.classifier_task = blob_task(config.classifier);
  out.problem = static_cast<std::uint32_t>(config.problem_type);
  out.token_task =
      config.token_classifier == TokenTask::kQuestionAnswering ? kTaskAnswer : kTaskTokens;
  const double pooled_scale = quantize_pooler(source, rounding, out);
  out.pooled_scale = static_cast<float>(pooled_scale);
  if (weights.classifier) {
    out.num_labels = static_cast<std::uint32_t>(weights.classifier->bias.size());
    out.logits_scale = choose_logits_scale(ranges.logits, *weights.classifier, pooled_scale);
    out.classifier = quantize_dense16({.linear = *weights.classifier,
                                       .rows = ranges.pooled,
                                       .input_scale = pooled_scale,
                                       .output_scale = static_cast<double>(out.logits_scale),
                                       .name = "classifier"},
                                      rounding);
  }
  if (weights.token_classifier) {
    const Linear& linear = *weights.token_classifier;
    const double input_scale = quantize_token_transform(source, rounding, out);
    out.num_token_labels = static_cast<std::uint32_t>(linear.bias.size());
    out.token_logits_scale = choose_logits_scale(ranges.token_logits, linear, input_scale);
    out.token_classifier =
        quantize_dense16({.linear = linear,
                          .rows = ranges.token_input,
                          .input_scale = input_scale,
                          .output_scale = static_cast<double>(out.token_logits_scale),
                          .name = "token_classifier"},
                         rounding);
  }
}

}  // namespace embert::convert
