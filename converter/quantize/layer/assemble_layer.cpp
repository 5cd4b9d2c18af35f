// SPDX-License-Identifier: Apache-2.0
// A factor of a requantisation is its input's scale divided by its output's scale.
#include "converter/quantize/layer/assemble_layer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "converter/quantize/encode_integers.hpp"
#include "converter/quantize/layer/assemble_attention.hpp"
#include "converter/quantize/layer/assemble_residual.hpp"
#include "converter/quantize/layer/choose_scales.hpp"
#include "converter/quantize/layer/column_groups.hpp"
#include "converter/quantize/rounding/outlier_splitting.hpp"
#include "kernels/arithmetic/fixed_point.hpp"
#include "kernels/arithmetic/layout.hpp"

namespace embert::convert {
namespace {

// A feed-forward network.
struct AssembledFfn {
  QuantizedDense up;
  BlobShifts up_shifts{};
  std::vector<std::uint16_t> copied_inputs;  // of `up`
  ResidualLayer down;
  std::uint32_t channels = 0;  // split ones included
  std::size_t copies = 0;
};

// The first feed-forward layer. `channels`: for each output the row of `rounded` that it copies.
// Gated, as many outputs of the gate follow, from the second half of the rows.
void assemble_ffn_up(const FeedForwardScales& scales, const RoundedDense& rounded,
                     const std::vector<std::size_t>& channels, const std::string& name,
                     AssembledFfn& out) {
  const SplitWeights weights = split_outliers(rounded.codes);
  out.copied_inputs.assign(
      weights.source.begin() + static_cast<std::ptrdiff_t>(rounded.codes.inputs),
      weights.source.end());
  QuantizedDense& dense = out.up;
  const std::size_t parts = scales.activated.factor.empty() ? 1 : 2,
                    columns = pad_columns(channels.size());
  const std::size_t part_rows = rounded.codes.outputs / parts;
  dense.outputs = parts * columns;
  dense.inputs = weights.source.size();
  dense.weights.reserve(dense.outputs * dense.inputs);
  std::vector<double> factors;
  for (std::size_t part = 0; part < parts; ++part) {
    for (const std::size_t channel : channels) {
      const std::size_t n = part * part_rows + channel;
      const double acc_scale = rounded.scale[n] * scales.ffn_input.scale;
      const std::int8_t* row = weights.codes.data() + n * dense.inputs;
      dense.weights.insert(dense.weights.end(), row, row + dense.inputs);
      dense.bias.push_back(
          encode_integer(rounded.bias[n] / acc_scale, kMaxDenseBias, name + " bias"));
      const bool dead =
          dense.bias.back() == 0 && all_zero(rounded.codes.row(n), rounded.codes.inputs);
      const double scale = part == 0 ? std::ldexp(1.0, -scales.activation_exponent)
                                     : scales.activated.factor[channel] * scales.gate_scale;
      factors.push_back(dead ? 0.0 : acc_scale / scale);
    }
    factors.resize((part + 1) * columns);
    dense.weights.resize((part + 1) * columns * dense.inputs);
    dense.bias.resize((part + 1) * columns);
  }
  EncodedFactors encoded = encode_factors(factors, name);
  dense.multiplier = std::move(encoded.multipliers);
  out.up_shifts = encoded.shifts;
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

// `sum`: what the sum is for; its residual and output are set, and what one scale needs.
AssembledFfn assemble_ffn(const LayerSource& source, const LayerScales& scales,
                          const RoundedLayer& parts, std::size_t index, ResidualSource sum) {
  const FeedForwardScales& of_ffn = scales.ffn(index);
  AssembledFfn out;
  const bool grouped = !of_ffn.group.empty();
  SplitWeights split =
      grouped ? order_by_group(sum.rounded.codes, of_ffn.group) : split_outliers(sum.rounded.codes);
  if (grouped) sum.first_columns = kFirstColumns;
  out.channels = static_cast<std::uint32_t>(split.source.size());
  out.copies = split.source.size() - sum.rounded.codes.inputs;
  assemble_ffn_up(of_ffn, part_of(parts, LayerPart::kFfnUp, index), split.source,
                  source.name + ".intermediate.dense", out);
  sum.weights = std::move(split.codes);
  sum.input_scale = source.config.gated_ffn ? of_ffn.activated.scale / 127
                                            : std::ldexp(1.0 / 255, -of_ffn.activation_exponent);
  out.down = assemble_residual(std::move(sum));
  return out;
}

// Makes a layer, block by block. `sum_scale_` is that of the last residual sum.
class LayerAssembler {
 public:
  LayerAssembler(const LayerSource& source, const LayerScales& scales, const RoundedLayer& parts,
                 double sum_scale)
      : source_(source), scales_(scales), parts_(parts), sum_scale_(sum_scale) {}

  AssembledLayer run(const ChannelQuant& next_input) {
    const LayerWeights& weights = source_.weights;
    assemble_hidden_state(source_, scales_.input, sum_scale_, layer_);
    if (weights.bottleneck) enter_bottleneck();
    assemble_self_attention(source_, scales_, parts_, layer_);
    attention_output();
    if (weights.cross) cross_attention();
    layer_.ffn_norm = encode(weights.ffn_norm, scales_.ffn_input, " feed-forward LayerNorm");
    const ChannelQuant& behind = weights.bottleneck ? scales_.bottleneck_output : next_input;
    for (std::size_t i = 0; i <= weights.stacked.size(); ++i) {
      const bool is_last = i == weights.stacked.size();
      feed_forward(i, is_last ? behind : scales_.ffn(i + 1).ffn_input);
    }
    if (weights.bottleneck) leave_bottleneck(next_input);
    layer_.record.num_heads = static_cast<std::uint32_t>(source_.ranges.self.query.size());
    return {.layer = std::move(layer_), .sum_scale = sum_scale_, .copies = copies_};
  }

 private:
  // A block's output is added to its input, in pre-LayerNorm stacks to the residual sum.
  ChannelQuant residual_of(const ChannelQuant& input) const {
    const bool pre = source_.config.norm_position == NormPosition::kPre;
    return pre ? per_tensor_quant(input.factor.size(), 128 * sum_scale_) : input;
  }
  // Without LayerNorms the sum is the next block's input.
  const ChannelQuant* output_of(const ChannelQuant& next) const {
    return source_.config.layer_norms ? nullptr : &next;
  }
  QuantizedNorm encode(const LayerNorm& norm, ChannelQuant input, const std::string& name) const {
    if (!norm.is_there()) return {};
    input.scale /= 128;  // of the norm's 16-bit output
    return encode_norm({.norm = norm,
                        .output = std::move(input),
                        .input_scale = sum_scale_,
                        .epsilon = norm.eps_or(source_.config.layer_norm_eps),
                        .name = source_.name + name});
  }
  double epsilon() const {
    return std::max(source_.config.layer_norm_eps, source_.config.closing_norm_eps);
  }
  QuantizedDense finish(ResidualLayer made, BlobShifts& shifts) {
    shifts = made.shifts;
    sum_scale_ = made.sum_scale;
    return std::move(made.dense);
  }

  // Of rows with a fixed scale.
  QuantizedDense from_fixed(LayerPart part, const ChannelQuant& input, ResidualSource sum,
                            BlobShifts& shifts) {
    sum.weights = byte_codes(part_of(parts_, part));
    sum.input_scale = input.scale / kFixedRowMax;
    sum.epsilon = epsilon();
    return finish(assemble_residual(std::move(sum)), shifts);
  }

  void enter_bottleneck() {
    QuantizedBottleneck& out = layer_.bottleneck.emplace();
    const BottleneckWeights& weights = *source_.weights.bottleneck;
    const auto make = [&](LayerPart part, const ChannelQuant& output, float largest,
                          BlobShifts& shifts) {
      return from_fixed(part, scales_.input,
                        {.rounded = part_of(parts_, part),
                         .weights = {},
                         .input_scale = 0,
                         .residual = nullptr,
                         .gain = weights.residual_gain,
                         .output = output_of(output),
                         .largest_sum = largest,
                         .name = source_.name + ".bottleneck"},
                        shifts);
    };
    if (source_.config.bottleneck == BottleneckKind::kShared) {
      out.query_key = make(LayerPart::kBottleneckQueryKey, scales_.query_key,
                           source_.ranges.query_key_sum, out.record.query_key);
      out.query_key_norm =
          encode(weights.query_key.norm, scales_.query_key, ".bottleneck.attention.LayerNorm");
    }
    out.input = make(LayerPart::kBottleneckInput, scales_.intra, source_.ranges.intra_sum,
                     out.record.input);
    out.input_norm = encode(weights.input.norm, scales_.intra, ".bottleneck.input.LayerNorm");
  }

  void attention_output() {
    const RoundedDense& rounded = part_of(parts_, LayerPart::kAttnOut);
    const ChannelQuant& input = intra_input(source_, scales_);
    const ChannelQuant residual = source_.adds_to_input ? input : residual_of(input);
    layer_.self.out = finish(assemble_residual({.rounded = rounded,
                                                .weights = byte_codes(rounded),
                                                .input_scale = scales_.context.scale / 127,
                                                .residual = &residual,
                                                .gain = source_.weights.attention.residual_gain,
                                                .output = output_of(scales_.ffn_input),
                                                .largest_sum = source_.ranges.self.sum,
                                                .epsilon = epsilon(),
                                                .name = source_.name + ".attention.output.dense"}),
                             layer_.record.self.out);
  }

  void cross_attention() {
    layer_.cross_norm = encode(source_.weights.cross_norm, scales_.cross_input, " cross LayerNorm");
    assemble_cross_attention(source_, scales_, parts_, layer_);
    const RoundedDense& rounded = part_of(parts_, LayerPart::kCrossOut);
    const ChannelQuant residual = residual_of(scales_.cross_input);
    layer_.cross.out =
        finish(assemble_residual({.rounded = rounded,
                                  .weights = byte_codes(rounded),
                                  .input_scale = scales_.cross_context.scale / 127,
                                  .residual = &residual,
                                  .gain = source_.weights.cross->residual_gain,
                                  .output = nullptr,
                                  .largest_sum = source_.ranges.cross.sum,
                                  .epsilon = epsilon(),
                                  .name = source_.name + ".crossattention.output.dense"}),
               layer_.record.cross.out);
  }

  // `next`: how the block behind reads the sum.
  void feed_forward(std::size_t index, const ChannelQuant& next) {
    const FeedForwardWeights& weights = source_.weights.ffn(index);
    const FeedForwardScales& scales = scales_.ffn(index);
    QuantizedNorm norm;
    if (index > 0) norm = encode(weights.ffn_norm, scales.ffn_input, " feed-forward LayerNorm");
    const ChannelQuant residual = residual_of(scales.ffn_input);
    AssembledFfn made = assemble_ffn(source_, scales_, parts_, index,
                                     {.rounded = part_of(parts_, LayerPart::kFfnDown, index),
                                      .weights = {},
                                      .input_scale = 0,
                                      .residual = &residual,
                                      .gain = weights.residual_gain,
                                      .output = output_of(next),
                                      .largest_sum = source_.ranges.ffn(index).ffn_sum,
                                      .epsilon = epsilon(),
                                      .name = source_.name + ".output.dense"});
    copies_ += made.copies;
    if (index == 0) {
      layer_.ffn_up = std::move(made.up);
      layer_.copied_inputs = std::move(made.copied_inputs);
      layer_.record.ffn_up = made.up_shifts;
      layer_.ffn_down_second = std::move(made.down.second);
      layer_.ffn_down = finish(std::move(made.down), layer_.record.ffn_down);
      layer_.record.intermediate_size = made.channels;
      layer_.record.activation_exponent = scales.activation_exponent;
      return;
    }
    QuantizedStackedFfn& ffn = layer_.stacked.emplace_back();
    ffn.norm = std::move(norm);
    ffn.up = std::move(made.up);
    ffn.record.up = made.up_shifts;
    ffn.down = finish(std::move(made.down), ffn.record.down);
    ffn.record.intermediate_size = made.channels;
    ffn.record.activation_exponent = scales.activation_exponent;
  }

  void leave_bottleneck(const ChannelQuant& next_input) {
    QuantizedBottleneck& out = *layer_.bottleneck;
    const BottleneckWeights& weights = *source_.weights.bottleneck;
    out.widening_norm =
        encode(weights.widening_norm, scales_.bottleneck_output, ".output.LayerNorm");
    out.output = from_fixed(LayerPart::kBottleneckOutput, scales_.bottleneck_output,
                            {.rounded = part_of(parts_, LayerPart::kBottleneckOutput),
                             .weights = {},
                             .input_scale = 0,
                             .residual = &scales_.input,
                             .gain = weights.residual_gain,
                             .output = output_of(next_input),
                             .largest_sum = source_.ranges.output_sum,
                             .name = source_.name + ".output.bottleneck.dense"},
                            out.record.output);
  }

  const LayerSource& source_;
  const LayerScales& scales_;
  const RoundedLayer& parts_;
  double sum_scale_;
  QuantizedLayer layer_;
  std::size_t copies_ = 0;
};

}  // namespace

AssembledLayer assemble_layer(const LayerSource& source, const LayerScales& scales,
                              const RoundedLayer& parts, double sum_scale,
                              const ChannelQuant& next_input) {
  return LayerAssembler(source, scales, parts, sum_scale).run(next_input);
}

}  // namespace embert::convert
