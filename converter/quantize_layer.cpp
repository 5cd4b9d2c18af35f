// SPDX-License-Identifier: Apache-2.0
// Domains and rounding; the integers are put together in assemble_layer.cpp.
#include "converter/quantize_layer.hpp"

#include <algorithm>
#include <cmath>

#include "converter/wide_columns.hpp"
#include "kernels/tables.hpp"

namespace embert::convert {
namespace {

// How much of the ranges' imbalance goes into the weights: measured on MiniLM, flat near the best.
constexpr double kInputFoldPower = 0.92;
constexpr double kFfnInputFoldPower = 0.85;
constexpr double kContextFoldPower = 0.75;

constexpr int kFineExponent = 10, kCoarsestExponent = 5;
constexpr double kFineReach = 28;  // largest calibrated input of the activation with kFineExponent

std::int32_t activation_offset(HiddenAct act) {
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

double largest_weight(const Matrix& matrix, std::size_t n, const std::vector<double>& factor) {
  double most = 0;
  for (std::size_t c = 0; c < matrix.cols; ++c) {
    most = std::max(most, std::fabs(static_cast<double>(matrix.row(n)[c])) * factor[c]);
  }
  return most;
}

std::vector<const Linear*> linears_of(const LayerWeights& weights, LayerPart part) {
  switch (part) {
    case LayerPart::kQkv:
      return {&weights.attention.query, &weights.attention.key, &weights.attention.value};
    case LayerPart::kOutput:
      return {&weights.attention.output};
    case LayerPart::kFfn1:
      return {&weights.intermediate};
    case LayerPart::kFfn2:
      return {&weights.output};
  }
  return {};
}

std::string part_name(const LayerSource& source, LayerPart part) {
  switch (part) {
    case LayerPart::kQkv:
      return source.name + ".attention.self";
    case LayerPart::kOutput:
      return source.name + ".attention.output.dense";
    case LayerPart::kFfn1:
      return source.name + ".intermediate.dense";
    case LayerPart::kFfn2:
      return source.name + ".output.dense";
  }
  return source.name;
}

// The domain of the part's input; null: that of the activation's output.
const InputDomain* domain_of(const LayerSteps& steps, LayerPart part) {
  switch (part) {
    case LayerPart::kQkv:
      return &steps.input;
    case LayerPart::kOutput:
      return &steps.context;
    case LayerPart::kFfn1:
      return &steps.ffn_input;
    case LayerPart::kFfn2:
      return nullptr;
  }
  return nullptr;
}

// Rows of all the part's matrices, folded, one below the other; the same for biases.
void stack(const std::vector<const Linear*>& linears, const InputDomain* domain, Matrix& weights,
           std::vector<double>& bias) {
  weights.cols = linears.front()->weight.cols;
  for (const Linear* linear : linears) {
    weights.rows += linear->weight.rows;
    for (std::size_t n = 0; n < linear->weight.rows; ++n) {
      const float* row = linear->weight.row(n);
      for (std::size_t c = 0; c < weights.cols; ++c) {
        const double factor = domain != nullptr ? domain->factor[c] : 1.0;
        weights.data.push_back(static_cast<float>(static_cast<double>(row[c]) * factor));
      }
      bias.push_back(static_cast<double>(linear->bias[n]));
    }
  }
}

// A code's real weight for each row: the largest weight becomes 127. Rows of zeros get the step of
// the row with the largest, where it does no harm.
std::vector<double> row_steps(const Matrix& weights) {
  std::vector<double> step(weights.rows, 0.0);
  double most = 0;
  for (std::size_t n = 0; n < weights.rows; ++n) {
    for (std::size_t c = 0; c < weights.cols; ++c) {
      step[n] = std::max(step[n], static_cast<double>(std::fabs(weights.row(n)[c])) / 127);
    }
    most = std::max(most, step[n]);
  }
  for (double& s : step) {
    if (s == 0) s = most > 0 ? most : 1.0;
  }
  return step;
}

}  // namespace

double value_step(const LayerSource& source, const InputDomain& input) {
  double step = 2 * static_cast<double>(source.ranges.value) / 32512;
  const Matrix& value = source.weights.attention.value.weight;
  for (std::size_t n = 0; n < value.rows; ++n) {
    // Not so fine that the factor behind the GEMM could not be expressed.
    step = std::max(step, input.step * largest_weight(value, n, input.factor) / 127 * 0x1p-14);
  }
  return step > 0 ? step : 1.0;
}

LayerSteps plan_layer(const LayerSource& source, std::vector<std::string>& warnings) {
  LayerSteps steps;
  const LayerWeights& w = source.weights;
  const Matrix* qkv[] = {&w.attention.query.weight, &w.attention.key.weight,
                         &w.attention.value.weight};
  const Matrix* ffn1[] = {&w.intermediate.weight};
  steps.input = plan_norm_output(source.ranges.input, source.input_norm, qkv, kInputFoldPower);
  steps.ffn_input = plan_norm_output(source.ranges.ffn_input, w.ffn_norm, ffn1, kFfnInputFoldPower);
  steps.context = plan_context(source.ranges.context, w.attention.output.weight, kContextFoldPower,
                               value_step(source, steps.input));
  steps.activation_offset_q14 = activation_offset(source.config.hidden_act);
  const auto reach = static_cast<double>(source.ranges.preactivation);
  steps.activation_exponent = kFineExponent;
  while (steps.activation_exponent > kCoarsestExponent &&
         reach > std::ldexp(kFineReach, kFineExponent - steps.activation_exponent)) {
    --steps.activation_exponent;
  }
  if (reach > std::ldexp(32767, -steps.activation_exponent)) {
    warnings.push_back(source.name + ".intermediate.dense: inputs of the activation reach " +
                       std::to_string(reach) + "; they are cut off at 1023");
  }
  return steps;
}

RoundedDense round_layer_part(const LayerSource& source, const LayerSteps& steps, LayerPart part,
                              const QuantizedRows& rows, Rounding rounding) {
  RoundingProblem problem;
  RoundedDense out;
  const InputDomain* domain = domain_of(steps, part);
  problem.name = part_name(source, part);
  const std::vector<const Linear*> linears = linears_of(source.weights, part);
  stack(linears, domain, problem.weights, out.bias);

  // Mean output of the float layer.
  std::size_t output = 0;
  for (const Linear* linear : linears) {
    for (std::size_t n = 0; n < linear->weight.rows; ++n, ++output) {
      const float* row = linear->weight.row(n);
      for (std::size_t c = 0; c < linear->weight.cols; ++c) {
        out.bias[output] += static_cast<double>(row[c]) * rows.real_mean[c];
      }
    }
  }
  if (part == LayerPart::kFfn2) {
    const auto inputs = problem.weights.cols;
    const std::size_t room =
        kMaxIntermediateSize - std::min<std::size_t>(inputs, kMaxIntermediateSize);
    WidePlan plan =
        plan_wide_columns(problem.weights, std::min(room, std::max<std::size_t>(16, inputs / 16)));
    problem.step = std::move(plan.step);
    problem.limit = std::move(plan.limit);
  } else {
    problem.step = row_steps(problem.weights);
    problem.limit.assign(problem.weights.cols, 127);
  }
  if (part == LayerPart::kQkv || part == LayerPart::kFfn1) {
    // The bias is added to the accumulator and must fit it; rounding changes it little.
    for (std::size_t n = 0; n < problem.step.size(); ++n) {
      problem.step[n] = std::max(problem.step[n], std::fabs(out.bias[n]) / (domain->step * 0x1p28));
    }
  }

  const Moments moments =
      measure_moments(rows.rows, rows.folded_mean, [&](std::size_t r, float* x) {
        const std::int8_t* codes = rows.codes.data() + r * rows.cols;
        for (std::size_t c = 0; c < rows.cols; ++c) {
          x[c] = static_cast<float>(codes[c] + rows.code_offset) * rows.row_step[r];
        }
      });
  out.codes = round_weights(problem, moments, rounding);
  out.relative_error = relative_error(problem, out.codes, moments);
  out.step = std::move(problem.step);
  for (std::size_t n = 0; n < out.codes.outputs; ++n) {
    double mean = 0;
    for (std::size_t c = 0; c < out.codes.inputs; ++c) {
      mean += out.codes.row(n)[c] * rows.folded_mean[c];
    }
    out.bias[n] -= mean * out.step[n];
  }
  return out;
}

}  // namespace embert::convert
