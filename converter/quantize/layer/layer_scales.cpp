// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/layer/layer_scales.hpp"

#include <algorithm>
#include <cmath>

#include "converter/quantize/layer/smoothing.hpp"
#include "converter/quantize/two_planes.hpp"
#include "kernels/arithmetic/tables.hpp"

namespace embert::convert {
namespace {

// How much of the ranges' imbalance goes into the weights: measured on MiniLM, flat near the best.
constexpr double kInputFoldPower = 0.92;
constexpr double kFfnInputFoldPower = 0.85;
constexpr double kContextFoldPower = 0.75;

constexpr int kFineExponent = 10, kCoarsestExponent = 5;
constexpr double kFineReach = 28;  // largest calibrated input of the activation with kFineExponent

double largest_weight(const Matrix& matrix, std::size_t n, const std::vector<double>& factor) {
  double most = 0;
  for (std::size_t c = 0; c < matrix.cols; ++c) {
    most = std::max(most, std::fabs(static_cast<double>(matrix.row(n)[c])) * factor[c]);
  }
  return most;
}

void plan_cross(const LayerSource& source, LayerScales& steps) {
  const AttentionWeights& cross = *source.weights.cross;
  const Matrix* query[] = {&cross.query.weight};
  steps.cross_input = plan_norm_output(source.ranges.cross_input, source.weights.cross_norm, query,
                                       kInputFoldPower);
  steps.cross_states = planes_domain(cross.key.weight.cols, source.cross_step);
  steps.cross_context =
      plan_context(source.ranges.cross.context, cross.out.weight, kContextFoldPower,
                   value_step(source.ranges.cross.value, cross.value.weight, steps.cross_states));
}

}  // namespace

double value_step(float largest, const Matrix& weight, const ChannelQuant& input) {
  double step = 2 * static_cast<double>(largest) / 32512;
  for (std::size_t n = 0; n < weight.rows; ++n) {
    // Not so fine that the factor behind the GEMM could not be expressed.
    step = std::max(step, input.scale * largest_weight(weight, n, input.factor) / 127 * 0x1p-14);
  }
  return step > 0 ? step : 1.0;
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

LayerScales plan_layer(const LayerSource& source, std::vector<std::string>& warnings) {
  LayerScales steps;
  const LayerWeights& w = source.weights;
  const Matrix* qkv[] = {&w.attention.query.weight, &w.attention.key.weight,
                         &w.attention.value.weight};
  const Matrix* ffn_up[] = {&w.ffn_up.weight};
  // Without a LayerNorm in front the embedding sum is read as it is: 128 units are one of the
  // input.
  steps.input = w.input_norm
                    ? plan_norm_output(source.ranges.input, *w.input_norm, qkv, kInputFoldPower)
                    : plain_domain(w.attention.query.weight.cols, 128 * source.embedding_step);
  steps.context =
      plan_context(source.ranges.self.context, w.attention.out.weight, kContextFoldPower,
                   value_step(source.ranges.self.value, w.attention.value.weight, steps.input));
  if (w.cross) plan_cross(source, steps);
  steps.ffn_input =
      plan_norm_output(source.ranges.ffn_input, w.ffn_norm, ffn_up, kFfnInputFoldPower);
  steps.activation_offset_q14 = activation_offset_q14(source.config.hidden_act);
  steps.activation_exponent = activation_exponent(source.ranges.preactivation);
  const auto reach = static_cast<double>(source.ranges.preactivation);
  if (reach > std::ldexp(32767, -steps.activation_exponent)) {
    warnings.push_back(source.name + ".intermediate.dense: inputs of the activation reach " +
                       std::to_string(reach) + "; they are cut off at 1023");
  }
  return steps;
}

}  // namespace embert::convert
