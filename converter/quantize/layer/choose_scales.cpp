// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/layer/choose_scales.hpp"

#include <algorithm>
#include <cmath>

#include "converter/quantize/layer/column_groups.hpp"
#include "converter/quantize/layer/smoothing.hpp"
#include "converter/quantize/two_planes.hpp"
#include "kernels/arithmetic/tables.hpp"

namespace embert::convert {
namespace {

// Migration strength of smoothing (alpha of SmoothQuant), measured on MiniLM; the error is flat
// near the best values.
constexpr double kInputAlpha = 0.92;     // inputs of queries, keys and values
constexpr double kFfnInputAlpha = 0.85;  // input of the first feed-forward layer
constexpr double kContextAlpha = 0.75;
// Of all three where they go in with 16 bits: their own error counts less, that of the weights
// more.
constexpr double kWideAlpha = 0.6;

constexpr int kFineExponent = 10, kCoarsestExponent = 5;
constexpr double kFineReach = 28;  // largest calibrated input of the activation with kFineExponent

// Shares of the gate's reach that a channel of the product counts at least: a channel whose
// activation is always small must not spoil the scale that all channels of the gate share.
constexpr double kLeastGateShare = 0x1p-6;

double largest_smoothed_weight(const Matrix& matrix, std::size_t row,
                               const std::vector<double>& factor) {
  double most = 0;
  for (std::size_t c = 0; c < matrix.cols; ++c) {
    most = std::max(most, std::fabs(static_cast<double>(matrix.row(row)[c])) * factor[c]);
  }
  return most;
}

void choose_cross_scales(const LayerSource& source, LayerScales& scales) {
  const AttentionWeights& cross = *source.weights.cross;
  const Matrix* query[] = {&cross.query.weight};
  const LayerNorm* norms[] = {&source.weights.cross_norm};
  scales.cross_input = channel_quant(source.ranges.cross_input, norms, query, kInputAlpha);
  scales.cross_states = planes_quant(cross.key.weight.cols, source.cross_scale);
  scales.cross_context = context_quant(
      source.ranges.cross.context, cross.out.weight, kContextAlpha,
      value_scale(source.ranges.cross.value, cross.value.weight, scales.cross_states));
}

// The product of a gated feed-forward network is smoothed as the context is: the factors go into
// those of the gate's requantisation.
void choose_gate_scales(const FeedForwardWeights& weights, const FeedForwardRanges& ranges,
                        FeedForwardScales& scales) {
  const Matrix& gate_weights = weights.ffn_gate->weight;
  const Matrix* readers[] = {&weights.ffn_down.weight};
  const std::size_t channels = ranges.gate.size();
  std::vector<double> amplitude(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    amplitude[c] = std::max(static_cast<double>(ranges.activated[c]),
                            kLeastGateShare * static_cast<double>(ranges.gate[c]));
  }
  ChannelQuant& quant = scales.activated;
  quant.offset.assign(channels, 0.0);
  quant.factor = smoothing_factors(
      {.activation = amplitude, .weight = relative_column_weights(readers)}, kContextAlpha);
  double gate_scale = 0, product = 0;
  for (std::size_t c = 0; c < channels; ++c) {
    const double sum_scale = scales.ffn_input.scale *
                             largest_smoothed_weight(gate_weights, c, scales.ffn_input.factor) /
                             127;
    // The second bound keeps the factor after the GEMM below kMaxFactor.
    gate_scale =
        std::max({gate_scale, 2 * static_cast<double>(ranges.gate[c]) / quant.factor[c] / 32767,
                  sum_scale / quant.factor[c] * 0x1p-14});
    product = std::max(product, 2 * static_cast<double>(ranges.activated[c]) / quant.factor[c]);
  }
  scales.gate_scale = usable_scale(gate_scale);
  quant.scale = std::ldexp(scales.gate_scale, -scales.activation_exponent);
  while (product > 32767 * quant.scale && scales.gate_shift < 15) {
    quant.scale *= 2;
    ++scales.gate_shift;
  }
}

// [channels] of the second feed-forward layer's input: without a gate with the activation's offset.
std::vector<double> activated_reach(const FeedForwardRanges& ranges,
                                    const FeedForwardScales& scales) {
  const bool gated = !scales.activated.factor.empty();
  const double offset = gated ? 0 : std::ldexp(scales.activation_offset_q14, -14);
  std::vector<double> reach;
  for (std::size_t c = 0; c < ranges.activated.size(); ++c) {
    const double factor = gated ? scales.activated.factor[c] : 1;
    reach.push_back(static_cast<double>(ranges.activated[c]) / factor + offset);
  }
  return reach;
}

// The matrices that read the hidden state in a layer with bottlenecks.
std::vector<const Matrix*> hidden_readers(const LayerSource& source) {
  const AttentionWeights& attention = source.weights.attention;
  std::vector<const Matrix*> readers = {&source.weights.bottleneck->input.dense.weight};
  switch (source.config.bottleneck) {
    case BottleneckKind::kShared:
      readers.push_back(&source.weights.bottleneck->query_key.dense.weight);
      readers.push_back(&attention.value.weight);
      break;
    case BottleneckKind::kOutput:
      for (const Linear* linear : {&attention.query, &attention.key, &attention.value}) {
        readers.push_back(&linear->weight);
      }
      break;
    default:
      break;
  }
  return readers;
}

// A norm that is not there bounds no scale.
Norms norms_of(const LayerNorm* const& norm) {
  return norm->is_there() ? Norms(&norm, 1) : Norms();
}

void choose_bottleneck_scales(const LayerSource& source, LayerScales& scales) {
  const LayerRanges& ranges = source.ranges;
  const AttentionWeights& attention = source.weights.attention;
  const BottleneckWeights& bottleneck = *source.weights.bottleneck;
  const Matrix* qkv[] = {&attention.query.weight, &attention.key.weight, &attention.value.weight};
  const LayerNorm *input_norm = &bottleneck.input.norm, *widening_norm = &bottleneck.widening_norm,
                  *query_key_norm = &bottleneck.query_key.norm;
  const bool is_read = source.config.bottleneck == BottleneckKind::kInput;
  scales.intra = channel_quant(ranges.intra, norms_of(input_norm),
                               is_read ? Readers(qkv) : Readers(), kInputAlpha);
  if (source.config.bottleneck == BottleneckKind::kShared) {
    scales.query_key =
        channel_quant(ranges.query_key, norms_of(query_key_norm), Readers(qkv, 2), kInputAlpha);
  }
  const Matrix* output[] = {&bottleneck.output.weight};
  scales.bottleneck_output =
      channel_quant(ranges.bottleneck_output, norms_of(widening_norm), output, kInputAlpha);
}

void choose_ffn_scales(const LayerSource& source, const FeedForwardWeights& w,
                       const FeedForwardRanges& ranges, FeedForwardScales& scales,
                       std::vector<std::string>& warnings) {
  const Matrix* matrices[] = {&w.ffn_up.weight, w.ffn_gate ? &w.ffn_gate->weight : nullptr};
  const Readers up(matrices, w.ffn_gate ? 2 : 1);
  const LayerNorm* norm = &w.ffn_norm;
  scales.ffn_input = channel_quant(ranges.ffn_input, norms_of(norm), up,
                                   source.wide_inputs() ? kWideAlpha : kFfnInputAlpha);
  scales.activation_offset_q14 = activation_offset_q14(source.config.hidden_act);
  scales.activation_exponent = activation_exponent(ranges.preactivation);
  if (w.ffn_gate) choose_gate_scales(w, ranges, scales);
  if (source.may_have_planes())
    scales.group = choose_column_groups(activated_reach(ranges, scales));
  const auto reach = static_cast<double>(ranges.preactivation);
  if (reach > std::ldexp(32767, -scales.activation_exponent)) {
    warnings.push_back(source.name + ".intermediate.dense: inputs of the activation reach " +
                       std::to_string(reach) + "; they are cut off at 1023");
  }
}

}  // namespace

double value_scale(float largest, const Matrix& weight, const ChannelQuant& input) {
  double scale = 2 * static_cast<double>(largest) / 32512;
  for (std::size_t n = 0; n < weight.rows; ++n) {
    // Coarse enough for the factor after the GEMM to stay below kMaxFactor.
    scale = std::max(
        scale, input.scale * largest_smoothed_weight(weight, n, input.factor) / 127 * 0x1p-14);
  }
  return scale > 0 ? scale : 1.0;
}

int activation_exponent(float largest_input) {
  int exponent = kFineExponent;
  while (exponent > kCoarsestExponent &&
         static_cast<double>(largest_input) > std::ldexp(kFineReach, kFineExponent - exponent)) {
    --exponent;
  }
  return exponent;
}

std::int32_t activation_offset_q14(HiddenAct act) {
  switch (act) {
    case HiddenAct::kGelu:
      return kGeluOffset;
    case HiddenAct::kGeluNew:
      return kGeluNewOffset;
    case HiddenAct::kSilu:
      return kSiluOffset;
    case HiddenAct::kTanh:
      return 1 << 14;
    case HiddenAct::kRelu:
      return 0;
  }
  return 0;
}

LayerScales choose_layer_scales(const LayerSource& source, std::vector<std::string>& warnings) {
  LayerScales scales;
  scales.wide_inputs = source.wide_inputs();
  const LayerWeights& w = source.weights;
  std::vector<const Matrix*> qkv = {&w.attention.query.weight, &w.attention.key.weight,
                                    &w.attention.value.weight};
  if (w.bottleneck) choose_bottleneck_scales(source, scales);
  const std::vector<const Matrix*> readers = w.bottleneck ? hidden_readers(source) : qkv;
  // One 8-bit code stands for 128 units of a 16-bit embedding sum.
  scales.input = source.reads_embedding_sum
                     ? per_tensor_quant(readers.front()->cols, 128 * source.embedding_scale)
                     : channel_quant(source.ranges.input, source.input_norms, readers,
                                     source.wide_inputs() ? kWideAlpha : kInputAlpha);
  scales.context = context_quant(
      source.ranges.self.context, w.attention.out.weight,
      source.wide_inputs() ? kWideAlpha : kContextAlpha,
      value_scale(source.ranges.self.value, w.attention.value.weight, value_input(source, scales)));
  if (w.cross) choose_cross_scales(source, scales);
  choose_ffn_scales(source, w, source.ranges, scales, warnings);
  for (std::size_t i = 0; i < w.stacked.size(); ++i) {
    choose_ffn_scales(source, w.stacked[i], source.ranges.stacked[i], scales.stacked.emplace_back(),
                      warnings);
  }
  return scales;
}

const ChannelQuant& query_key_input(const LayerSource& source, const LayerScales& scales) {
  switch (source.config.bottleneck) {
    case BottleneckKind::kShared:
      return scales.query_key;
    case BottleneckKind::kInput:
      return scales.intra;
    default:
      return scales.input;
  }
}

const ChannelQuant& value_input(const LayerSource& source, const LayerScales& scales) {
  return source.config.bottleneck == BottleneckKind::kInput ? scales.intra : scales.input;
}

const ChannelQuant& intra_input(const LayerSource& source, const LayerScales& scales) {
  return source.config.has_bottleneck() ? scales.intra : scales.input;
}

}  // namespace embert::convert
