// SPDX-License-Identifier: Apache-2.0
// A factor stands for "real value of a unit before over real value of a unit behind".
#include "converter/quantize/layer/assemble_layer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "converter/quantize/encode_integers.hpp"
#include "converter/quantize/layer/assemble_attention.hpp"
#include "converter/quantize/layer/smoothing.hpp"
#include "converter/quantize/rounding/outlier_splitting.hpp"
#include "kernels/arithmetic/fixed_point.hpp"
#include "kernels/arithmetic/layout.hpp"

namespace embert::convert {
namespace {

constexpr double kSumFraction = 16;  // units of the residual sum in one of the next norm's input

bool all_zero(const std::int16_t* row, std::size_t count) {
  return std::all_of(row, row + count, [](std::int16_t code) { return code == 0; });
}

// A GEMM whose sum ends in the residual. `unit`: real value of accumulator times row maximum, for a
// code's real weight of 1. Returns the step of the sum, which is the next LayerNorm's input.
double assemble_residual(const RoundedDense& rounded, std::span<const std::int8_t> weights,
                         double unit, const ChannelQuant& residual, float largest, double epsilon,
                         const std::string& name, QuantizedDense& dense, BlobShifts& shifts) {
  const std::size_t outputs = rounded.codes.outputs;
  std::vector<double> factors(outputs);
  double step = 2 * static_cast<double>(largest) / 32767;
  // Raised where the numbers below would not fit.
  step = std::max(step, std::sqrt(epsilon) * static_cast<double>(outputs) * 0x1p-26);
  for (std::size_t n = 0; n < outputs; ++n) {
    const bool dead = all_zero(rounded.codes.row(n), rounded.codes.inputs);
    factors[n] = dead ? 0.0 : unit * rounded.step[n] * 0x1p15 * kSumFraction;
    step = std::max({step, factors[n] * 0x1p-14, residual.factor[n] * residual.scale / 128 * 0x1p-8,
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
    const double carried = residual.factor[n] * residual.scale / 128 / fine_step;
    dense.residual[n] =
        encode_integer(carried * 0x1p16, kMaxResidualMultiplier, name + " residual factor");
    dense.constant[n] = encode_integer((rounded.bias[n] + residual.offset[n]) / fine_step,
                                       kMaxResidualConstant, name + " constant");
  }
  return step;
}

// The first feed-forward layer, with its rows for copied channels once more.
void assemble_ffn1(const LayerSource& source, const LayerScales& steps, const RoundedDense& rounded,
                   const std::vector<std::size_t>& channels, QuantizedLayer& layer) {
  const std::string name = source.name + ".intermediate.dense";
  QuantizedDense& dense = layer.ffn_up;
  dense.outputs = pad_columns(channels.size());
  dense.inputs = rounded.codes.inputs;
  dense.weights.reserve(dense.outputs * dense.inputs);
  std::vector<double> factors;
  for (const std::size_t n : channels) {
    const double acc_step = rounded.step[n] * steps.ffn_input.scale;
    const std::int16_t* row = rounded.codes.row(n);
    for (std::size_t c = 0; c < dense.inputs; ++c) {
      dense.weights.push_back(static_cast<std::int8_t>(row[c]));
    }
    dense.bias.push_back(encode_integer(rounded.bias[n] / acc_step, kMaxDenseBias, name + " bias"));
    const bool dead = dense.bias.back() == 0 && all_zero(row, dense.inputs);
    factors.push_back(dead ? 0.0 : std::ldexp(acc_step, steps.activation_exponent));
  }
  EncodedFactors encoded = encode_factors(factors, name);
  layer.record.ffn_up = encoded.shifts;
  dense.multiplier = std::move(encoded.multipliers);
  dense.weights.resize(dense.outputs * dense.inputs);
  dense.bias.resize(dense.outputs);
  dense.multiplier.resize(dense.outputs);
}

// The layer's input as a hidden state, for callers that ask for it: the sum itself, or a
// LayerNorm's output out of its folded domain.
void assemble_hidden_state(const LayerSource& source, const ChannelQuant& input, double sum_step,
                           QuantizedLayer& layer) {
  if (source.config.norm_position == NormPosition::kPre || !source.weights.input_norm) {
    layer.record.hidden_scale = std::bit_cast<std::uint32_t>(static_cast<float>(sum_step));
    return;
  }
  const ChannelRange& range = source.ranges.input;
  double largest = 0;
  for (std::size_t c = 0; c < input.factor.size(); ++c) {
    largest = std::max({largest, std::fabs(static_cast<double>(range.lowest[c])),
                        std::fabs(static_cast<double>(range.highest[c])),
                        input.factor[c] * input.scale / 128 * 4});  // a multiplier of at most 2^30
  }
  const auto scale = static_cast<float>(largest > 0 ? 2 * largest / 32767 : 1.0);
  layer.record.hidden_scale = std::bit_cast<std::uint32_t>(scale);
  const auto unit = static_cast<double>(scale) / 0x1p16;
  for (std::size_t c = 0; c < input.factor.size(); ++c) {
    layer.hidden_multiplier.push_back(encode_integer(input.factor[c] * input.scale / 128 / unit,
                                                     INT32_MAX, "hidden state multiplier"));
    layer.hidden_offset.push_back(
        encode_integer(input.offset[c] / unit, INT32_MAX, "hidden state offset"));
  }
}

}  // namespace

AssembledLayer assemble_layer(const LayerSource& source, const LayerScales& steps,
                              const RoundedLayer& parts, double sum_step) {
  AssembledLayer out;
  QuantizedLayer& layer = out.layer;
  const LayerWeights& weights = source.weights;
  const double epsilon = source.config.layer_norm_eps;
  const bool pre = source.config.norm_position == NormPosition::kPre;
  // What a block's output is added to: its input, or in pre-LayerNorm stacks the sum itself.
  const auto residual_of = [&](const ChannelQuant& input) {
    return pre ? plain_domain(input.factor.size(), 128 * sum_step) : input;
  };
  const auto encode = [&](const LayerNorm& norm, const ChannelQuant& input,
                          const std::string& name) {
    return encode_norm(norm, input.offset, input.factor, input.scale / 128, sum_step, epsilon,
                       source.name + name);
  };

  assemble_hidden_state(source, steps.input, sum_step, layer);
  if (weights.input_norm) {
    layer.input_norm = encode(*weights.input_norm, steps.input, " input LayerNorm");
  }
  assemble_self_attention(source, steps, part_of(parts, LayerPart::kQkv), layer);
  const auto assemble_output = [&](LayerPart part, const ChannelQuant& context,
                                   const ChannelQuant& input, float largest, const char* name,
                                   QuantizedDense& dense, BlobShifts& shifts) {
    const RoundedDense& output = part_of(parts, part);
    const std::vector<std::int8_t> codes(output.codes.codes.begin(), output.codes.codes.end());
    sum_step = assemble_residual(output, codes, context.scale / 127, residual_of(input), largest,
                                 epsilon, source.name + name, dense, shifts);
  };
  assemble_output(LayerPart::kOutput, steps.context, steps.input, source.ranges.self.sum,
                  ".attention.output.dense", layer.self.out, layer.record.self.out);

  if (weights.cross) {
    layer.cross_norm = encode(weights.cross_norm, steps.cross_input, " cross LayerNorm");
    assemble_cross_attention(source, steps, part_of(parts, LayerPart::kCrossQuery),
                             part_of(parts, LayerPart::kCrossKeyValue), layer);
    assemble_output(LayerPart::kCrossOutput, steps.cross_context, steps.cross_input,
                    source.ranges.cross.sum, ".crossattention.output.dense", layer.cross.out,
                    layer.record.cross.out);
  }
  layer.ffn_norm = encode(weights.ffn_norm, steps.ffn_input, " feed-forward LayerNorm");

  const RoundedDense& ffn_down = part_of(parts, LayerPart::kFfn2);
  const SplitWeights split = split_wide_columns(ffn_down.codes);
  out.copies = split.source.size() - ffn_down.codes.inputs;
  assemble_ffn1(source, steps, part_of(parts, LayerPart::kFfn1), split.source, layer);
  out.sum_step =
      assemble_residual(ffn_down, split.codes, std::ldexp(1.0 / 255, -steps.activation_exponent),
                        residual_of(steps.ffn_input), source.ranges.ffn_sum, epsilon,
                        source.name + ".output.dense", layer.ffn_down, layer.record.ffn_down);

  layer.record.num_heads = static_cast<std::uint32_t>(source.ranges.self.query.size());
  layer.record.intermediate_size = static_cast<std::uint32_t>(split.source.size());
  layer.record.activation_exponent = steps.activation_exponent;
  layer.record.input_norm = layer.input_norm.record;
  layer.record.norm_after_attn = layer.norm_after_attn().record;
  layer.record.norm_after_cross = layer.norm_after_cross().record;
  return out;
}

}  // namespace embert::convert
