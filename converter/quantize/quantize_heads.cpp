// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/quantize_heads.hpp"

#include <algorithm>
#include <cmath>

#include "converter/quantize/encode_integers.hpp"
#include "converter/quantize/two_planes.hpp"
#include "kernels/arithmetic/layout.hpp"

namespace embert::convert {
namespace {

constexpr double kPooledStep = 1.0 / 28672;  // tanh in Q12, times 7 to fill 16 bits

std::uint32_t blob_problem(ProblemType problem) {
  switch (problem) {
    case ProblemType::kSingleLabel:
      return kProblemSingleLabel;
    case ProblemType::kMultiLabel:
      return kProblemMultiLabel;
    case ProblemType::kRegression:
      return kProblemRegression;
  }
  return kProblemSingleLabel;
}

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

// Logits with 24 bits for twice what calibration saw, but not so fine that the factor behind the
// sum could not be expressed.
float logits_scale(float largest, const Linear& linear, double input_step) {
  const double reach = largest > 0 ? static_cast<double>(largest) : 1.0;
  float most = 0;
  for (const float weight : linear.weight.data) most = std::max(most, std::fabs(weight));
  const double unit = planes_domain(linear.weight.cols, input_step).scale;
  return static_cast<float>(
      std::max(2 * reach * 0x1p-24, unit * static_cast<double>(most) / 127 * 0x1p-14));
}

}  // namespace

QuantizedDense16 quantize_head(const Linear& linear, const Matrix& rows, double input_step,
                               double output_step, Rounding rounding, const std::string& name,
                               const HeadReport& report) {
  const std::size_t inputs = linear.weight.cols;
  const ChannelQuant domain = planes_domain(inputs, input_step);
  const InputRows input = input_rows(rows);
  const RoundedDense rounded =
      round_dense(planes_source(name, {&linear}, domain, input), input, rounding);
  if (!rounded.codes.warning.empty()) report.warnings.push_back(rounded.codes.warning);
  report.errors.push_back({name, rounded.relative_error});

  QuantizedDense16 head;
  head.record.join_shift = planes_join_shift(inputs);
  QuantizedDense& dense = head.dense;
  dense.outputs = pad_columns(linear.weight.rows);
  dense.inputs = inputs;
  dense.weights.assign(rounded.codes.codes.begin(), rounded.codes.codes.end());
  dense.weights.resize(dense.outputs * inputs);
  std::vector<double> factors;
  for (std::size_t n = 0; n < linear.weight.rows; ++n) {
    const double sum_step = domain.scale * rounded.step[n];
    dense.bias.push_back(encode_integer(rounded.bias[n] / sum_step, kMaxDenseBias, name + " bias"));
    const std::int16_t* codes = rounded.codes.row(n);
    const bool dead = dense.bias.back() == 0 &&
                      std::all_of(codes, codes + inputs, [](std::int16_t c) { return c == 0; });
    factors.push_back(dead ? 0.0 : sum_step / output_step);
  }
  EncodedFactors encoded = encode_factors(factors, name);
  head.record.shifts = encoded.shifts;
  dense.multiplier = std::move(encoded.multipliers);
  dense.bias.resize(dense.outputs);
  dense.multiplier.resize(dense.outputs);
  return head;
}

void quantize_heads(const ModelConfig& config, const ModelWeights& weights,
                    const HeadRanges& ranges, double hidden_step, Rounding rounding,
                    QuantizedModel& out, const HeadReport& report) {
  out.classifier_task = blob_task(config.classifier);
  out.problem = blob_problem(config.problem_type);
  out.token_task =
      config.token_classifier == TokenTask::kQuestionAnswering ? kTaskAnswer : kTaskTokens;
  if (weights.pooler) {
    out.pooler = quantize_head(*weights.pooler, ranges.first_hidden, hidden_step, 0x1p-12, rounding,
                               "pooler", report);
    out.pooled_scale = static_cast<float>(kPooledStep);
  }
  if (weights.classifier) {
    out.num_labels = static_cast<std::uint32_t>(weights.classifier->bias.size());
    out.logits_scale = logits_scale(ranges.logits, *weights.classifier, kPooledStep);
    out.classifier =
        quantize_head(*weights.classifier, ranges.pooled, kPooledStep,
                      static_cast<double>(out.logits_scale), rounding, "classifier", report);
  }
  if (weights.token_classifier) {
    out.num_token_labels = static_cast<std::uint32_t>(weights.token_classifier->bias.size());
    out.token_logits_scale =
        logits_scale(ranges.token_logits, *weights.token_classifier, hidden_step);
    out.token_classifier = quantize_head(*weights.token_classifier, ranges.token_hidden,
                                         hidden_step, static_cast<double>(out.token_logits_scale),
                                         rounding, "token_classifier", report);
  }
}

}  // namespace embert::convert
