// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/rounding/round_dense.hpp"

#include <algorithm>
#include <cmath>

#include "converter/arithmetic/all_finite.hpp"
#include "converter/arithmetic/matrix_product.hpp"
#include "converter/convert_error.hpp"

namespace embert::convert {
namespace {

// Rows of all matrices, smoothed, one below the other.
Matrix stacked_weights(const DenseSource& source) {
  Matrix weights;
  weights.cols = source.linears.front()->weight.cols;
  for (const Linear* linear : source.linears) {
    weights.rows += linear->weight.rows;
    for (std::size_t n = 0; n < linear->weight.rows; ++n) {
      const float* row = linear->weight.row(n);
      for (std::size_t c = 0; c < weights.cols; ++c) {
        const double factor = source.input != nullptr ? source.input->factor[c] : 1.0;
        weights.data.push_back(static_cast<float>(static_cast<double>(row[c]) * factor));
      }
    }
  }
  if (!all_finite(weights.data)) {
    throw ConvertError("model.safetensors: " + source.name +
                       ": weights times smoothing factors are not finite; the weights or the "
                       "LayerNorm before them are too large or damaged: compare the file with its "
                       "source");
  }
  return weights;
}

// [groups, outputs] scales with which each row's largest weight becomes 127. A row of zeros takes
// the largest scale of the others, because any scale serves it.
std::vector<double> row_scales(const Matrix& weights, const std::vector<std::uint8_t>& group) {
  std::vector<double> scales(weights.rows * (group.empty() ? 1 : kColumnGroups), 0.0);
  double most = 0;
  for (std::size_t n = 0; n < weights.rows; ++n) {
    for (std::size_t c = 0; c < weights.cols; ++c) {
      double& scale = scales[(group.empty() ? 0 : group[c] * weights.rows) + n];
      scale = std::max(scale, static_cast<double>(std::fabs(weights.row(n)[c])) / 127);
      most = std::max(most, scale);
    }
  }
  for (double& scale : scales) {
    scale = usable_scale(scale > 0 ? scale : most);
  }
  return scales;
}

OutlierPlan plan_columns(const Matrix& weights, const DenseSource& source) {
  if (source.copies.most == 0) {
    return {row_scales(weights, source.group), std::vector<int>(weights.cols, 127)};
  }
  return plan_outlier_splitting(weights, source.copies);
}

// RoundedDense::second_reach, of about kReachRows rows.
double reach_of_second(const RoundingProblem& problem, const RoundedDense& rounded,
                       const InputRows& rows) {
  constexpr std::size_t kReachRows = 1024;
  const std::size_t inputs = problem.weights.cols, outputs = problem.weights.rows;
  std::vector<float> weights(outputs * inputs);  // zeros in the first group
  for (std::size_t n = 0; n < outputs; ++n) {
    for (std::size_t c = 0; c < inputs; ++c) {
      if (problem.group[c] == 0) continue;
      weights[n * inputs + c] =
          static_cast<float>(rounded.codes.row(n)[c] * problem.scales_of(c)[n]);
    }
  }
  const std::size_t step = rows.count / kReachRows + 1, count = (rows.count + step - 1) / step;
  std::vector<float> sample(count * inputs), sums(count * outputs);
  for (std::size_t r = 0; r < count; ++r) rows.read(r * step, sample.data() + r * inputs);
  const PackedMatrix<float> packed(view_rows(weights.data(), outputs, inputs).transposed());
  add_product(view_rows(sample.data(), count, inputs), packed,
              ProductOut<float>{sums.data(), outputs, 0, outputs});
  double reach = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    reach = std::max(reach,
                     std::fabs(static_cast<double>(sums[i]) + rounded.bias[outputs + i % outputs]));
  }
  return reach;
}

}  // namespace

InputRows input_rows(const QuantizedRows& rows) {
  return {rows.rows, rows.real_mean, rows.smoothed_mean, [&rows](std::size_t r, float* x) {
            const std::int8_t* codes = rows.codes.data() + r * rows.cols;
            const float* scales = rows.scales(r);
            for (std::size_t c = 0; c < rows.cols; ++c) {
              x[c] = static_cast<float>(codes[c] - rows.zero_point) * scales[rows.group[c]];
            }
          }};
}

InputRows input_rows(const Matrix& rows) {
  std::vector<double> mean(rows.cols, 0.0);
  for (std::size_t r = 0; r < rows.rows; ++r) {
    for (std::size_t c = 0; c < rows.cols; ++c) mean[c] += static_cast<double>(rows.row(r)[c]);
  }
  for (double& m : mean) m /= static_cast<double>(rows.rows);
  return {rows.rows, mean, mean,
          [&rows](std::size_t r, float* x) { std::copy_n(rows.row(r), rows.cols, x); }};
}

std::vector<double> mean_output(const std::vector<const Linear*>& linears,
                                const std::vector<double>& mean) {
  std::vector<double> output;
  for (const Linear* linear : linears) {
    for (std::size_t n = 0; n < linear->weight.rows; ++n) {
      const float* row = linear->weight.row(n);
      double sum = static_cast<double>(linear->bias[n]);
      for (std::size_t c = 0; c < linear->weight.cols; ++c) {
        sum += static_cast<double>(row[c]) * mean[c];
      }
      output.push_back(sum);
    }
  }
  return output;
}

std::vector<double> scales_for_bias(const std::vector<double>& reach, double input_scale) {
  std::vector<double> scales;
  for (const double value : reach) scales.push_back(std::fabs(value) / (input_scale * 0x1p28));
  return scales;
}

RoundedDense round_dense(DenseSource source, const InputRows& rows, Rounding rounding) {
  RoundingProblem problem{.name = source.name,
                          .weights = stacked_weights(source),
                          .scale = {},
                          .limit = {},
                          .group = source.group};
  OutlierPlan plan = plan_columns(problem.weights, source);
  problem.scale = std::move(plan.scale);
  problem.limit = std::move(plan.limit);
  for (std::size_t n = 0; n < source.least_scale.size(); ++n) {
    problem.scale[n] = std::max(problem.scale[n], source.least_scale[n]);
  }
  const Hessian hessian = measure_hessian(rows.count, rows.smoothed_mean, rows.read);
  RoundedDense out;
  out.codes = round_weights(problem, hessian, rounding);
  out.relative_error = relative_error(problem, out.codes, hessian);
  out.bias = mean_output(source.linears, rows.real_mean);
  out.bias.resize(problem.scale.size());
  for (std::size_t n = 0; n < out.codes.outputs; ++n) {
    double mean[kColumnGroups] = {};
    for (std::size_t c = 0; c < out.codes.inputs; ++c) {
      mean[problem.group.empty() ? 0 : problem.group[c]] +=
          out.codes.row(n)[c] * rows.smoothed_mean[c];
    }
    for (std::size_t g = 0; g * out.codes.outputs < out.bias.size(); ++g) {
      const std::size_t at = g * out.codes.outputs + n;
      out.bias[at] -= mean[g] * problem.scale[at];
    }
  }
  if (!problem.group.empty()) out.second_reach = reach_of_second(problem, out, rows);
  out.scale = std::move(problem.scale);
  return out;
}

}  // namespace embert::convert
