// SPDX-License-Identifier: Apache-2.0
// The integers of a layer from its domains and rounded weights. A factor stands for "real value of
// a unit before over real value of a unit behind".
#include <algorithm>
#include <bit>
#include <cmath>

#include "converter/encode_numbers.hpp"
#include "converter/quantize_layer.hpp"
#include "converter/wide_columns.hpp"
#include "kernels/fixed_point.hpp"
#include "kernels/layout.hpp"

namespace embert::convert {
namespace {

constexpr double kSumFraction = 16;  // units of the residual sum in one of the next norm's input

bool all_zero(const std::int16_t* row, std::size_t count) {
  return std::all_of(row, row + count, [](std::int16_t code) { return code == 0; });
}

// Steps of the 8-bit queries or keys, one a head. factor_of(head) is the largest real value of a
// unit of the accumulator among the head's columns.
std::vector<double> head_steps(const std::vector<float>& largest, const RoundedDense& qkv,
                               std::size_t first_row, std::size_t head_size, double input_step) {
  const auto most = static_cast<double>(*std::max_element(largest.begin(), largest.end()));
  std::vector<double> steps;
  for (std::size_t h = 0; h < largest.size(); ++h) {
    // Dead heads share the coarsest step that leaves the others their bits.
    double step = std::max(static_cast<double>(largest[h]), most * 0x1p-16) / 127;
    for (std::size_t d = 0; d < head_size; ++d) {
      const double unit = qkv.step[first_row + h * head_size + d] * input_step;
      step = std::max(step, unit * 0x1p-14);
    }
    steps.push_back(step > 0 ? step : 1.0);
  }
  return steps;
}

// Queries, keys and values of all heads, scores and context.
void assemble_attention(const LayerSource& source, const LayerSteps& steps, const RoundedDense& qkv,
                        QuantizedLayer& layer) {
  const std::size_t heads = source.ranges.query.size();
  const auto head_size = static_cast<std::size_t>(source.config.head_size());
  const std::size_t hidden = heads * head_size, padded = pad_columns(head_size);
  const std::string name = source.name + ".attention.self";
  const double v_step = value_step(source, steps.input);
  const std::vector<double> unit[3] = {
      head_steps(source.ranges.query, qkv, 0, head_size, steps.input.step),
      head_steps(source.ranges.key, qkv, hidden, head_size, steps.input.step),
      std::vector<double>(heads, v_step)};
  BlobShifts* const shifts[3] = {&layer.numbers.self.query, &layer.numbers.self.key,
                                 &layer.numbers.self.value};
  const char* const names[3] = {".query", ".key", ".value"};

  QuantizedDense& dense = layer.qkv;
  dense.outputs = heads * 3 * padded;
  dense.inputs = qkv.codes.inputs;
  dense.weights.resize(dense.outputs * dense.inputs);
  dense.bias.resize(dense.outputs);
  dense.multiplier.resize(dense.outputs);
  for (std::size_t part = 0; part < 3; ++part) {
    std::vector<double> factors;
    for (std::size_t n = 0; n < hidden; ++n) {
      const std::size_t from = part * hidden + n, h = n / head_size;
      const std::size_t to = (h * 3 + part) * padded + n % head_size;
      const double acc_step = qkv.step[from] * steps.input.step;
      for (std::size_t c = 0; c < dense.inputs; ++c) {
        dense.weights[to * dense.inputs + c] = static_cast<std::int8_t>(qkv.codes.row(from)[c]);
      }
      dense.bias[to] =
          encode_integer(qkv.bias[from] / acc_step, kMaxDenseBias, name + names[part] + " bias");
      const bool dead = dense.bias[to] == 0 && all_zero(qkv.codes.row(from), dense.inputs);
      factors.push_back(dead ? 0.0 : acc_step / unit[part][h]);
    }
    const EncodedFactors encoded = encode_factors(factors, name + names[part]);
    *shifts[part] = encoded.shifts;
    for (std::size_t n = 0; n < hidden; ++n) {
      dense.multiplier[(n / head_size * 3 + part) * padded + n % head_size] =
          encoded.multipliers[n];
    }
  }

  std::vector<double> context;
  for (std::size_t n = 0; n < hidden; ++n) {
    context.push_back(v_step / (steps.context.factor[n] * steps.context.step) * 0x1p-15);
  }
  const EncodedFactors encoded = encode_factors(context, name + " context");
  layer.numbers.self.context = encoded.shifts;
  layer.self.context_multipliers.assign(heads * padded, 0);
  for (std::size_t h = 0; h < heads; ++h) {
    const EncodedScore score =
        encode_score(unit[0][h] * unit[1][h] / std::sqrt(static_cast<double>(head_size)));
    layer.self.score_multipliers.push_back(score.multiplier);
    layer.self.distance_caps.push_back(score.cap);
    for (std::size_t d = 0; d < head_size; ++d) {
      layer.self.context_multipliers[h * padded + d] = encoded.multipliers[h * head_size + d];
    }
  }
}

// A GEMM whose sum ends in the residual. `unit`: real value of accumulator times row maximum, for a
// code's real weight of 1. Returns the step of the sum, which is the next LayerNorm's input.
double assemble_residual(const RoundedDense& rounded, std::span<const std::int8_t> weights,
                         double unit, const InputDomain& residual, float largest, double epsilon,
                         const std::string& name, QuantizedDense& dense, BlobShifts& shifts) {
  const std::size_t outputs = rounded.codes.outputs;
  std::vector<double> factors(outputs);
  double step = 2 * static_cast<double>(largest) / 32767;
  // Raised where the numbers below would not fit.
  step = std::max(step, std::sqrt(epsilon) * static_cast<double>(outputs) * 0x1p-26);
  for (std::size_t n = 0; n < outputs; ++n) {
    const bool dead = all_zero(rounded.codes.row(n), rounded.codes.inputs);
    factors[n] = dead ? 0.0 : unit * rounded.step[n] * 0x1p15 * kSumFraction;
    step = std::max({step, factors[n] * 0x1p-14, residual.factor[n] * residual.step / 128 * 0x1p-8,
                     std::fabs(rounded.bias[n] + residual.offset[n]) * 0x1p-23});
  }
  if (step == 0) step = 1;
  for (double& f : factors) f /= step;
  EncodedFactors encoded = encode_factors(factors, name);
  shifts = encoded.shifts;

  dense.outputs = pad_columns(outputs);
  dense.inputs = weights.size() / outputs;
  dense.weights.assign(weights.begin(), weights.end());
  dense.weights.resize(dense.outputs * dense.inputs);
  dense.multiplier = std::move(encoded.multipliers);
  dense.multiplier.resize(dense.outputs);
  dense.residual.resize(dense.outputs);
  dense.constant.resize(dense.outputs);
  const double fine_step = step / kSumFraction;
  for (std::size_t n = 0; n < outputs; ++n) {
    const double carried = residual.factor[n] * residual.step / 128 / fine_step;
    dense.residual[n] =
        encode_integer(carried * 0x1p16, kMaxResidualMultiplier, name + " residual factor");
    dense.constant[n] = encode_integer((rounded.bias[n] + residual.offset[n]) / fine_step,
                                       kMaxResidualConstant, name + " constant");
  }
  return step;
}

// The first feed-forward layer, with its rows for copied channels once more.
void assemble_ffn1(const LayerSource& source, const LayerSteps& steps, const RoundedDense& rounded,
                   const std::vector<std::size_t>& channels, QuantizedLayer& layer) {
  const std::string name = source.name + ".intermediate.dense";
  QuantizedDense& dense = layer.ffn1;
  dense.outputs = pad_columns(channels.size());
  dense.inputs = rounded.codes.inputs;
  dense.weights.reserve(dense.outputs * dense.inputs);
  std::vector<double> factors;
  for (const std::size_t n : channels) {
    const double acc_step = rounded.step[n] * steps.ffn_input.step;
    const std::int16_t* row = rounded.codes.row(n);
    for (std::size_t c = 0; c < dense.inputs; ++c) {
      dense.weights.push_back(static_cast<std::int8_t>(row[c]));
    }
    dense.bias.push_back(encode_integer(rounded.bias[n] / acc_step, kMaxDenseBias, name + " bias"));
    const bool dead = dense.bias.back() == 0 && all_zero(row, dense.inputs);
    factors.push_back(dead ? 0.0 : std::ldexp(acc_step, steps.activation_exponent));
  }
  EncodedFactors encoded = encode_factors(factors, name);
  layer.numbers.ffn1 = encoded.shifts;
  dense.multiplier = std::move(encoded.multipliers);
  dense.weights.resize(dense.outputs * dense.inputs);
  dense.bias.resize(dense.outputs);
  dense.multiplier.resize(dense.outputs);
}

// The layer's input out of its folded domain, for callers that ask for hidden states.
void add_hidden_rows(const ChannelRange& range, const InputDomain& input, QuantizedLayer& layer) {
  double largest = 0;
  for (std::size_t c = 0; c < input.factor.size(); ++c) {
    largest = std::max({largest, std::fabs(static_cast<double>(range.lowest[c])),
                        std::fabs(static_cast<double>(range.highest[c])),
                        input.factor[c] * input.step / 128 * 4});  // a multiplier of at most 2^30
  }
  const auto scale = static_cast<float>(largest > 0 ? 2 * largest / 32767 : 1.0);
  layer.numbers.hidden_scale = std::bit_cast<std::uint32_t>(scale);
  const auto unit = static_cast<double>(scale) / 0x1p16;
  for (std::size_t c = 0; c < input.factor.size(); ++c) {
    layer.hidden_multiplier.push_back(encode_integer(input.factor[c] * input.step / 128 / unit,
                                                     INT32_MAX, "hidden state multiplier"));
    layer.hidden_offset.push_back(
        encode_integer(input.offset[c] / unit, INT32_MAX, "hidden state offset"));
  }
}

}  // namespace

AssembledLayer assemble_layer(const LayerSource& source, const LayerSteps& steps,
                              const std::array<RoundedDense, kLayerParts>& parts,
                              double input_sum_step) {
  AssembledLayer out;
  QuantizedLayer& layer = out.layer;
  const double epsilon = source.config.layer_norm_eps;
  const std::string norm_name = source.name + ".attention.output.LayerNorm";
  layer.input_norm =
      encode_norm(source.input_norm, steps.input.offset, steps.input.factor, steps.input.step / 128,
                  input_sum_step, epsilon, source.name + " input LayerNorm");
  assemble_attention(source, steps, parts[0], layer);

  const RoundedDense& output = parts[1];
  std::vector<std::int8_t> output_codes(output.codes.codes.begin(), output.codes.codes.end());
  const double attention_step = assemble_residual(output, output_codes, steps.context.step / 127,
                                                  steps.input, source.ranges.attention_sum, epsilon,
                                                  source.name + ".attention.output.dense",
                                                  layer.self.output, layer.numbers.self.output);
  layer.attention_norm =
      encode_norm(source.weights.ffn_norm, steps.ffn_input.offset, steps.ffn_input.factor,
                  steps.ffn_input.step / 128, attention_step, epsilon, norm_name);

  const SplitWeights split = split_wide_columns(parts[3].codes);
  out.copies = split.source.size() - parts[3].codes.inputs;
  assemble_ffn1(source, steps, parts[2], split.source, layer);
  out.sum_step =
      assemble_residual(parts[3], split.codes, std::ldexp(1.0 / 255, -steps.activation_exponent),
                        steps.ffn_input, source.ranges.output_sum, epsilon,
                        source.name + ".output.dense", layer.ffn2, layer.numbers.ffn2);

  add_hidden_rows(source.ranges.input, steps.input, layer);
  layer.numbers.num_heads = static_cast<std::uint32_t>(source.ranges.query.size());
  layer.numbers.intermediate_size = static_cast<std::uint32_t>(split.source.size());
  layer.numbers.activation_exponent = steps.activation_exponent;
  layer.numbers.input_norm = layer.input_norm.numbers;
  layer.numbers.attention_norm = layer.attention_norm.numbers;
  return out;
}

}  // namespace embert::convert
