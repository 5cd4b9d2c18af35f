// SPDX-License-Identifier: Apache-2.0
// A factor of a requantisation is its input's scale divided by its output's scale.
#include "converter/quantize/layer/assemble_layer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "converter/quantize/encode_integers.hpp"
#include "converter/quantize/layer/assemble_attention.hpp"
#include "converter/quantize/rounding/outlier_splitting.hpp"
#include "kernels/arithmetic/fixed_point.hpp"
#include "kernels/arithmetic/layout.hpp"

namespace embert::convert {
namespace {

// The residual is added with a scale 16 times finer than that of the sum.
constexpr double kSumFraction = 16;

bool all_zero(const std::int16_t* row, std::size_t count) {
  return std::all_of(row, row + count, [](std::int16_t code) { return code == 0; });
}

std::vector<std::int8_t> byte_codes(const RoundedDense& rounded) {
  return {rounded.codes.codes.begin(), rounded.codes.codes.end()};
}

// A GEMM whose output is added to the residual.
struct ResidualSource {
  const RoundedDense& rounded;
  std::vector<std::int8_t> weights;  // [outputs, columns] codes of `rounded`, outliers split
  double input_scale;                // of the row's maximum times its 8-bit codes
  ChannelQuant residual;             // as the 16-bit sum is read: 128 units are one code
  float largest_sum;                 // on calibration texts
  double epsilon;                    // of the LayerNorm that reads the sum
  std::string name;
};

struct ResidualLayer {
  QuantizedDense dense;
  BlobShifts shifts{};
  double sum_scale = 1;
};

ResidualLayer assemble_residual(ResidualSource source) {
  const RoundedDense& rounded = source.rounded;
  const ChannelQuant& residual = source.residual;
  const std::size_t outputs = rounded.codes.outputs;
  std::vector<double> factors(outputs);
  double scale = 2 * static_cast<double>(source.largest_sum) / 32767;
  // Large enough for epsilon_n2, the factors, the residual's multipliers and the constants to fit.
  scale = std::max(scale, std::sqrt(source.epsilon) * static_cast<double>(outputs) * 0x1p-26);
  for (std::size_t n = 0; n < outputs; ++n) {
    const bool dead = all_zero(rounded.codes.row(n), rounded.codes.inputs);
    factors[n] = dead ? 0.0 : source.input_scale * rounded.scale[n] * 0x1p15 * kSumFraction;
    scale =
        std::max({scale, factors[n] * 0x1p-14, residual.factor[n] * residual.scale / 128 * 0x1p-8,
                  std::fabs(rounded.bias[n] + residual.offset[n]) * 0x1p-23});
  }
  if (scale == 0) scale = 1;
  for (double& f : factors) f /= scale;
  EncodedFactors encoded = encode_factors(factors, source.name);

  ResidualLayer out{.dense = {}, .shifts = encoded.shifts, .sum_scale = scale};
  QuantizedDense& dense = out.dense;
  dense.outputs = pad_columns(outputs);
  dense.inputs = source.weights.size() / outputs;
  dense.weights = std::move(source.weights);
  dense.weights.resize(dense.outputs * dense.inputs);
  dense.multiplier = std::move(encoded.multipliers);
  dense.multiplier.resize(dense.outputs);
  dense.residual.resize(dense.outputs);
  dense.constant.resize(dense.outputs);
  const double fine_scale = scale / kSumFraction;
  for (std::size_t n = 0; n < outputs; ++n) {
    const double carried = residual.factor[n] * residual.scale / 128 / fine_scale;
    dense.residual[n] =
        encode_integer(carried * 0x1p16, kMaxResidualMultiplier, source.name + " residual factor");
    dense.constant[n] = encode_integer((rounded.bias[n] + residual.offset[n]) / fine_scale,
                                       kMaxResidualConstant, source.name + " constant");
  }
  return out;
}

// The first feed-forward layer. `channels`: for each output the row of `rounded` that it copies.
// Gated, as many outputs of the gate follow, from the second half of the rows.
void assemble_ffn_up(const LayerSource& source, const LayerScales& scales,
                     const RoundedDense& rounded, const std::vector<std::size_t>& channels,
                     QuantizedLayer& layer) {
  const std::string name = source.name + ".intermediate.dense";
  QuantizedDense& dense = layer.ffn_up;
  const std::size_t parts = source.config.gated_ffn ? 2 : 1, columns = pad_columns(channels.size());
  const std::size_t part_rows = rounded.codes.outputs / parts;
  dense.outputs = parts * columns;
  dense.inputs = rounded.codes.inputs;
  dense.weights.reserve(dense.outputs * dense.inputs);
  std::vector<double> factors;
  for (std::size_t part = 0; part < parts; ++part) {
    for (const std::size_t channel : channels) {
      const std::size_t n = part * part_rows + channel;
      const double acc_scale = rounded.scale[n] * scales.ffn_input.scale;
      const std::int16_t* row = rounded.codes.row(n);
      for (std::size_t c = 0; c < dense.inputs; ++c) {
        dense.weights.push_back(static_cast<std::int8_t>(row[c]));
      }
      dense.bias.push_back(
          encode_integer(rounded.bias[n] / acc_scale, kMaxDenseBias, name + " bias"));
      const bool dead = dense.bias.back() == 0 && all_zero(row, dense.inputs);
      const double scale = part == 0 ? std::ldexp(1.0, -scales.activation_exponent)
                                     : scales.activated.factor[channel] * scales.gate_scale;
      factors.push_back(dead ? 0.0 : acc_scale / scale);
    }
    factors.resize((part + 1) * columns);
    dense.weights.resize((part + 1) * columns * dense.inputs);
    dense.bias.resize((part + 1) * columns);
  }
  EncodedFactors encoded = encode_factors(factors, name);
  layer.record.ffn_up = encoded.shifts;
  dense.multiplier = std::move(encoded.multipliers);
}

// The layer's input as a hidden state, for callers that ask for it: the residual sum itself, or a
// LayerNorm's output with the smoothing undone.
void assemble_hidden_state(const LayerSource& source, const ChannelQuant& input, double sum_scale,
                           QuantizedLayer& layer) {
  if (!source.adds_to_input || source.reads_embedding_sum) {
    layer.record.hidden_scale = std::bit_cast<std::uint32_t>(static_cast<float>(sum_scale));
    return;
  }
  const ChannelRange& range = source.ranges.input;
  double largest = 0;
  for (std::size_t c = 0; c < input.factor.size(); ++c) {
    largest = std::max({largest, std::fabs(static_cast<double>(range.lowest[c])),
                        std::fabs(static_cast<double>(range.highest[c])),
                        input.factor[c] * input.scale / 128 * 4});  // multipliers up to 2^30
  }
  const auto scale = static_cast<float>(largest > 0 ? 2 * largest / 32767 : 1.0);
  layer.record.hidden_scale = std::bit_cast<std::uint32_t>(scale);
  const auto fine_scale = static_cast<double>(scale) / 0x1p16;
  for (std::size_t c = 0; c < input.factor.size(); ++c) {
    layer.hidden_multiplier.push_back(encode_integer(
        input.factor[c] * input.scale / 128 / fine_scale, INT32_MAX, "hidden state multiplier"));
    layer.hidden_offset.push_back(
        encode_integer(input.offset[c] / fine_scale, INT32_MAX, "hidden state offset"));
  }
}

}  // namespace

AssembledLayer assemble_layer(const LayerSource& source, const LayerScales& scales,
                              const RoundedLayer& parts, double sum_scale) {
  AssembledLayer out;
  QuantizedLayer& layer = out.layer;
  const LayerWeights& weights = source.weights;
  const double epsilon = source.config.layer_norm_eps;
  // A block's output is added to its input, in pre-LayerNorm stacks to the residual sum.
  const bool pre = source.config.norm_position == NormPosition::kPre;
  const auto residual_of = [&](const ChannelQuant& input) {
    return pre ? per_tensor_quant(input.factor.size(), 128 * sum_scale) : input;
  };
  const auto encode = [&](const LayerNorm& norm, ChannelQuant input, const std::string& name) {
    input.scale /= 128;  // of the norm's 16-bit output
    return encode_norm({.norm = norm,
                        .output = std::move(input),
                        .input_scale = sum_scale,
                        .epsilon = epsilon,
                        .name = source.name + name});
  };

  assemble_hidden_state(source, scales.input, sum_scale, layer);
  assemble_self_attention(source, scales, parts, layer);
  const RoundedDense& attn_out = part_of(parts, LayerPart::kAttnOut);
  ResidualLayer attention = assemble_residual(
      {.rounded = attn_out,
       .weights = byte_codes(attn_out),
       .input_scale = scales.context.scale / 127,
       .residual = source.adds_to_input ? scales.input : residual_of(scales.input),
       .largest_sum = source.ranges.self.sum,
       .epsilon = epsilon,
       .name = source.name + ".attention.output.dense"});
  layer.self.out = std::move(attention.dense);
  layer.record.self.out = attention.shifts;
  sum_scale = attention.sum_scale;

  if (weights.cross) {
    layer.cross_norm = encode(weights.cross_norm, scales.cross_input, " cross LayerNorm");
    assemble_cross_attention(source, scales, parts, layer);
    const RoundedDense& cross_out = part_of(parts, LayerPart::kCrossOut);
    ResidualLayer cross = assemble_residual({.rounded = cross_out,
                                             .weights = byte_codes(cross_out),
                                             .input_scale = scales.cross_context.scale / 127,
                                             .residual = residual_of(scales.cross_input),
                                             .largest_sum = source.ranges.cross.sum,
                                             .epsilon = epsilon,
                                             .name = source.name + ".crossattention.output.dense"});
    layer.cross.out = std::move(cross.dense);
    layer.record.cross.out = cross.shifts;
    sum_scale = cross.sum_scale;
  }

  layer.ffn_norm = encode(weights.ffn_norm, scales.ffn_input, " feed-forward LayerNorm");
  const RoundedDense& ffn_down = part_of(parts, LayerPart::kFfnDown);
  SplitWeights split = split_outliers(ffn_down.codes);
  const std::size_t channels = split.source.size();
  out.copies = channels - ffn_down.codes.inputs;
  assemble_ffn_up(source, scales, part_of(parts, LayerPart::kFfnUp), split.source, layer);
  ResidualLayer ffn = assemble_residual(
      {.rounded = ffn_down,
       .weights = std::move(split.codes),
       .input_scale = source.config.gated_ffn ? scales.activated.scale / 127
                                              : std::ldexp(1.0 / 255, -scales.activation_exponent),
       .residual = residual_of(scales.ffn_input),
       .largest_sum = source.ranges.ffn_sum,
       .epsilon = epsilon,
       .name = source.name + ".output.dense"});
  layer.ffn_down = std::move(ffn.dense);
  layer.record.ffn_down = ffn.shifts;
  out.sum_scale = ffn.sum_scale;

  layer.record.num_heads = static_cast<std::uint32_t>(source.ranges.self.query.size());
  layer.record.intermediate_size = static_cast<std::uint32_t>(channels);
  layer.record.activation_exponent = scales.activation_exponent;
  return out;
}

}  // namespace embert::convert
