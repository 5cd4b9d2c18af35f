// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/task_heads/quantize_lm.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "converter/quantize/encode_integers.hpp"
#include "converter/quantize/layer/choose_scales.hpp"
#include "converter/quantize/rounding/round_dense.hpp"
#include "converter/quantize/task_heads/quantize_transform.hpp"

namespace embert::convert {
namespace {

constexpr double kLogitCodes = 0x1p24;         // for twice the largest calibrated logit
constexpr double kLargestMultiplier = 0x1p23;  // of untied rows, below kMaxWordMultiplier
constexpr int kMostShift = 40;

// The output embeddings: real weight = multiplier * scale * code.
struct OutputEmbeddings {
  double scale;
  // [V] real; corrects the mean logits on calibration rows for the rounding of the weights.
  std::vector<double> bias;
};

// Rows of their own; writes them to `out`.
OutputEmbeddings round_untied(const LanguageHead& head, const Matrix& input,
                              const Dense16Rounding& rounding, QuantizedLm& out) {
  const Linear linear{.weight = *head.output_embeddings, .bias = head.bias};
  const RoundedDense rounded =
      round_dense({.name = "lm_rows", .linears = {&linear}}, input_rows(input), rounding.rounding);
  if (!rounded.codes.warning.empty()) rounding.warnings.push_back(rounded.codes.warning);
  rounding.errors.push_back({.name = "lm_rows", .error = rounded.relative_error});
  const double most = *std::max_element(rounded.scale.begin(), rounded.scale.end());
  const double scale = most / kLargestMultiplier;
  out.rows.assign(rounded.codes.codes.begin(), rounded.codes.codes.end());
  for (const double row_scale : rounded.scale) {
    out.multipliers.push_back(
        encode_integer(row_scale / scale, kMaxWordMultiplier, "lm_rows multiplier"));
  }
  return {.scale = scale, .bias = rounded.bias};
}

// The word embeddings as the blob holds them.
OutputEmbeddings share_embeddings(const LmSource& source, const InputRows& input) {
  const Matrix& tokens = source.word_embeddings;
  OutputEmbeddings out{
      .scale =
          static_cast<double>(std::bit_cast<float>(source.stack.record.embedding_scale)) * 0x1p-16,
      .bias = {}};
  for (std::size_t id = 0; id < tokens.rows; ++id) {
    const std::int8_t* codes = source.stack.word_embeddings.data() + id * tokens.cols;
    const double row_scale = source.stack.word_multipliers[id] * out.scale;
    double sum = static_cast<double>(source.head.bias[id]);
    for (std::size_t c = 0; c < tokens.cols; ++c) {
      sum += (static_cast<double>(tokens.row(id)[c]) - codes[c] * row_scale) * input.real_mean[c];
    }
    out.bias.push_back(sum);
  }
  return out;
}

}  // namespace

QuantizedLm quantize_lm(const LmSource& source, const Dense16Rounding& rounding) {
  const LanguageHead& head = source.head;
  const HeadRanges& ranges = source.ranges;
  QuantizedLm out;
  const Matrix& input = head.transform ? ranges.lm_normed : ranges.lm_input;
  const OutputEmbeddings rows = head.output_embeddings
                                    ? round_untied(head, input, rounding, out)
                                    : share_embeddings(source, input_rows(input));
  const double reach = ranges.lm_logits > 0 ? static_cast<double>(ranges.lm_logits) : 1.0;
  const double coarsest_scale = 2 * reach / kLogitCodes;  // of the logits

  double input_scale = source.hidden_scale;  // of the 16-bit rows that the output embeddings read
  if (head.transform) {
    const HiddenAct act = source.act.value_or(source.config.hidden_act);
    auto made = quantize_transform(
        {.dense = *head.transform,
         .norm = &head.norm,
         .act = act,
         .epsilon = source.config.layer_norm_eps,
         .input = ranges.lm_input,
         .input_scale = source.hidden_scale,
         .largest_sum = ranges.lm_transform,
         .output = input,
         .least_output_scale = std::ldexp(coarsest_scale / rows.scale, -kMostShift),
         .name = "lm_transform",
         .norm_name = "the LayerNorm of the language model's transform"},
        rounding);
    input_scale = made.scale;
    out.own_activation = act != source.config.hidden_act;
    out.transform = std::move(made.transform);
  }
  double logits_scale = input_scale * rows.scale;
  for (; out.shift < kMostShift && logits_scale < coarsest_scale; ++out.shift) logits_scale *= 2;
  out.logits_scale = static_cast<float>(logits_scale);
  for (const double b : rows.bias) {
    out.bias.push_back(encode_integer(b / logits_scale, kMaxDenseBias, "lm bias"));
  }
  return out;
}

}  // namespace embert::convert
