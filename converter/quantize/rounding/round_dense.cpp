// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/rounding/round_dense.hpp"

#include <algorithm>
#include <cmath>

#include "converter/quantize/rounding/outlier_splitting.hpp"
#include "runtime/format/blob_format.hpp"

namespace embert::convert {
namespace {

// Rows of all matrices, folded, one below the other.
Matrix stack_weights(const DenseSource& source) {
  Matrix weights;
  weights.cols = source.linears.front()->weight.cols;
  for (const Linear* linear : source.linears) {
    weights.rows += linear->weight.rows;
    for (std::size_t n = 0; n < linear->weight.rows; ++n) {
      const float* row = linear->weight.row(n);
      for (std::size_t c = 0; c < weights.cols; ++c) {
        const double factor = source.domain != nullptr ? source.domain->factor[c] : 1.0;
        weights.data.push_back(static_cast<float>(static_cast<double>(row[c]) * factor));
      }
    }
  }
  return weights;
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

WidePlan plan_steps(const Matrix& weights, bool wide_columns) {
  if (!wide_columns) return {row_steps(weights), std::vector<int>(weights.cols, 127)};
  const std::size_t inputs = weights.cols;
  const std::size_t room =
      kMaxIntermediateSize - std::min<std::size_t>(inputs, kMaxIntermediateSize);
  return plan_wide_columns(weights, std::min(room, std::max<std::size_t>(16, inputs / 16)));
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

std::vector<double> steps_for_bias(const std::vector<double>& reach, double unit) {
  std::vector<double> steps;
  for (const double value : reach) steps.push_back(std::fabs(value) / (unit * 0x1p28));
  return steps;
}

RoundedDense round_dense(DenseSource source, const InputRows& rows, Rounding rounding) {
  RoundingProblem problem{source.name, stack_weights(source), {}, {}};
  WidePlan plan = plan_steps(problem.weights, source.wide_columns);
  problem.step = std::move(plan.step);
  problem.limit = std::move(plan.limit);
  for (std::size_t n = 0; n < source.least_step.size(); ++n) {
    problem.step[n] = std::max(problem.step[n], source.least_step[n]);
  }
  const Moments moments = measure_moments(rows.count, rows.smoothed_mean, rows.read);
  RoundedDense out;
  out.codes = round_weights(problem, moments, rounding);
  out.relative_error = relative_error(problem, out.codes, moments);
  out.step = std::move(problem.step);
  out.bias = mean_output(source.linears, rows.real_mean);
  for (std::size_t n = 0; n < out.codes.outputs; ++n) {
    double mean = 0;
    for (std::size_t c = 0; c < out.codes.inputs; ++c) {
      mean += out.codes.row(n)[c] * rows.smoothed_mean[c];
    }
    out.bias[n] -= mean * out.step[n];
  }
  return out;
}

}  // namespace embert::convert
