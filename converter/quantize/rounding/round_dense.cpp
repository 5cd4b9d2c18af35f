// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/rounding/round_dense.hpp"

#include <algorithm>
#include <cmath>

#include "converter/quantize/rounding/outlier_splitting.hpp"
#include "runtime/format/blob_format.hpp"

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
  return weights;
}

// Scales with which each row's largest weight becomes 127. A row of zeros takes the largest scale
// of the others, because any scale serves it.
std::vector<double> row_scales(const Matrix& weights) {
  std::vector<double> scales(weights.rows, 0.0);
  double most = 0;
  for (std::size_t n = 0; n < weights.rows; ++n) {
    for (std::size_t c = 0; c < weights.cols; ++c) {
      scales[n] = std::max(scales[n], static_cast<double>(std::fabs(weights.row(n)[c])) / 127);
    }
    most = std::max(most, scales[n]);
  }
  for (double& scale : scales) {
    if (scale == 0) scale = most > 0 ? most : 1.0;
  }
  return scales;
}

OutlierPlan plan_columns(const Matrix& weights, bool split_outliers) {
  if (!split_outliers) return {row_scales(weights), std::vector<int>(weights.cols, 127)};
  const std::size_t inputs = weights.cols;
  const std::size_t room =
      kMaxIntermediateSize - std::min<std::size_t>(inputs, kMaxIntermediateSize);
  return plan_outlier_splitting(weights, std::min(room, std::max<std::size_t>(16, inputs / 16)));
}

}  // namespace

InputRows input_rows(const QuantizedRows& rows) {
  return {rows.rows, rows.real_mean, rows.smoothed_mean, [&rows](std::size_t r, float* x) {
            const std::int8_t* codes = rows.codes.data() + r * rows.cols;
            for (std::size_t c = 0; c < rows.cols; ++c) {
              x[c] = static_cast<float>(codes[c] - rows.zero_point) * rows.row_scale[r];
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
  RoundingProblem problem{
      .name = source.name, .weights = stacked_weights(source), .scale = {}, .limit = {}};
  OutlierPlan plan = plan_columns(problem.weights, source.split_outliers);
  problem.scale = std::move(plan.scale);
  problem.limit = std::move(plan.limit);
  for (std::size_t n = 0; n < source.least_scale.size(); ++n) {
    problem.scale[n] = std::max(problem.scale[n], source.least_scale[n]);
  }
  const Hessian hessian = measure_hessian(rows.count, rows.smoothed_mean, rows.read);
  RoundedDense out;
  out.codes = round_weights(problem, hessian, rounding);
  out.relative_error = relative_error(problem, out.codes, hessian);
  out.scale = std::move(problem.scale);
  out.bias = mean_output(source.linears, rows.real_mean);
  for (std::size_t n = 0; n < out.codes.outputs; ++n) {
    double mean = 0;
    for (std::size_t c = 0; c < out.codes.inputs; ++c) {
      mean += out.codes.row(n)[c] * rows.smoothed_mean[c];
    }
    out.bias[n] -= mean * out.scale[n];
  }
  return out;
}

}  // namespace embert::convert
