// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/quantize_lm.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "converter/quantize/encode_integers.hpp"
#include "converter/quantize/layer/layer_scales.hpp"
#include "converter/quantize/layer/smoothing.hpp"
#include "converter/quantize/rounding/round_dense.hpp"

namespace embert::convert {
namespace {

constexpr double kLogitUnits = 0x1p24;         // that twice the largest logit may have
constexpr double kLargestMultiplier = 0x1p23;  // of untied rows, below kMaxWordMultiplier
constexpr int kMostShift = 40;

// Rows of their own: real weight = multiplier * unit * code. `bias` makes up for what rounding
// changed. Returns the unit.
double round_rows(const LanguageHead& head, const Matrix& input, Rounding rounding,
                  const HeadReport& report, QuantizedLm& out, std::vector<double>& bias) {
  const Linear decoder{*head.output_embeddings, head.bias};
  const RoundedDense rounded = round_dense({"lm_rows", {&decoder}}, input_rows(input), rounding);
  if (!rounded.codes.warning.empty()) report.warnings.push_back(rounded.codes.warning);
  report.errors.push_back({"lm_rows", rounded.relative_error});
  const double most = *std::max_element(rounded.step.begin(), rounded.step.end());
  const double unit = most / kLargestMultiplier;
  out.rows.assign(rounded.codes.codes.begin(), rounded.codes.codes.end());
  for (const double step : rounded.step) {
    out.multipliers.push_back(
        encode_integer(step / unit, kMaxWordMultiplier, "lm_rows multiplier"));
  }
  bias = rounded.bias;
  return unit;
}

// The same for the word embeddings as they lie in the blob.
double share_words(const LanguageHead& head, const Matrix& words, const InputRows& input,
                   const QuantizedStack& last, std::vector<double>& bias) {
  const double unit =
      static_cast<double>(std::bit_cast<float>(last.record.embedding_scale)) * 0x1p-16;
  for (std::size_t id = 0; id < words.rows; ++id) {
    const std::int8_t* codes = last.word_embeddings.data() + id * words.cols;
    const double row_step = last.word_multipliers[id] * unit;
    double sum = static_cast<double>(head.bias[id]);
    for (std::size_t c = 0; c < words.cols; ++c) {
      sum += (static_cast<double>(words.row(id)[c]) - codes[c] * row_step) * input.real_mean[c];
    }
    bias.push_back(sum);
  }
  return unit;
}

double largest_input(const Matrix& matrix) {
  float most = 0;
  for (const float value : matrix.data) most = std::max(most, std::fabs(value));
  return static_cast<double>(most);
}

}  // namespace

QuantizedLm quantize_lm(const StackConfig& config, const LanguageHead& head, const Matrix& words,
                        const HeadRanges& ranges, const QuantizedStack& last, double hidden_step,
                        Rounding rounding, const HeadReport& report) {
  QuantizedLm out;
  const Matrix& input = head.transform ? ranges.lm_normed : ranges.lm_input;
  std::vector<double> bias;
  const double row_unit = head.output_embeddings
                              ? round_rows(head, input, rounding, report, out, bias)
                              : share_words(head, words, input_rows(input), last, bias);
  const double reach = ranges.lm_logits > 0 ? static_cast<double>(ranges.lm_logits) : 1.0;
  const double coarsest_unit = 2 * reach / kLogitUnits;  // of the logits

  double step = hidden_step;  // of the rows' input
  if (head.transform) {
    const std::vector<double> zeros(input.cols, 0.0), ones(input.cols, 1.0);
    out.exponent = activation_exponent(ranges.lm_transform);
    const double activated_step = std::ldexp(1.0, -out.exponent);
    out.transform = quantize_head(*head.transform, ranges.lm_input, hidden_step, activated_step,
                                  rounding, "lm_transform", report);
    // The activation's offset is the same in all channels: the LayerNorm takes it away.
    step = std::max({2 * largest_input(input) / 32767, least_norm_step(head.norm, zeros, ones),
                     std::ldexp(coarsest_unit / row_unit, -kMostShift)});
    out.norm = encode_norm(head.norm, zeros, ones, step, activated_step, config.layer_norm_eps,
                           "cls.predictions.transform.LayerNorm");
  }
  double unit = step * row_unit;
  for (; out.shift < kMostShift && unit < coarsest_unit; ++out.shift) unit *= 2;
  out.logits_scale = static_cast<float>(unit);
  for (const double b : bias) {
    out.bias.push_back(encode_integer(b / unit, kMaxDenseBias, "lm bias"));
  }
  return out;
}

}  // namespace embert::convert
