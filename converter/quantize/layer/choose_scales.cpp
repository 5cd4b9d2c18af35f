// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/layer/choose_scales.hpp"

#include <algorithm>
#include <cmath>

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

constexpr int kFineExponent = 10, kCoarsestExponent = 5;
constexpr double kFineReach = 28;  // largest calibrated input of the activation with kFineExponent

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
  scales.cross_input =
      norm_output_quant(source.ranges.cross_input, source.weights.cross_norm, query, kInputAlpha);
  scales.cross_states = planes_quant(cross.key.weight.cols, source.cross_scale);
  scales.cross_context = context_quant(
      source.ranges.cross.context, cross.out.weight, kContextAlpha,
      value_scale(source.ranges.cross.value, cross.value.weight, scales.cross_states));
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
  const LayerWeights& w = source.weights;
  const Matrix* qkv[] = {&w.attention.query.weight, &w.attention.key.weight,
                         &w.attention.value.weight};
  const Matrix* ffn_up[] = {&w.ffn_up.weight};
  // Without a LayerNorm before it the layer reads the embedding sum itself: one 8-bit code stands
  // for 128 units of the 16-bit sum.
  scales.input =
      w.input_norm ? norm_output_quant(source.ranges.input, *w.input_norm, qkv, kInputAlpha)
                   : per_tensor_quant(w.attention.query.weight.cols, 128 * source.embedding_scale);
  scales.context =
      context_quant(source.ranges.self.context, w.attention.out.weight, kContextAlpha,
                    value_scale(source.ranges.self.value, w.attention.value.weight, scales.input));
  if (w.cross) choose_cross_scales(source, scales);
  scales.ffn_input = norm_output_quant(source.ranges.ffn_input, w.ffn_norm, ffn_up, kFfnInputAlpha);
  scales.activation_offset_q14 = activation_offset_q14(source.config.hidden_act);
  scales.activation_exponent = activation_exponent(source.ranges.preactivation);
  const auto reach = static_cast<double>(source.ranges.preactivation);
  if (reach > std::ldexp(32767, -scales.activation_exponent)) {
    warnings.push_back(source.name + ".intermediate.dense: inputs of the activation reach " +
                       std::to_string(reach) + "; they are cut off at 1023");
  }
  return scales;
}

}  // namespace embert::convert
