// SPDX-License-Identifier: Apache-2.0
// With H the (damped) moments and H^-1 = U^T U, U upper triangular: rounding input i of a row with
// error e_i = (w_i - q_i step) / U_ii, the best answer of the inputs after it is to lose e_i U_ij
// each. Inputs with large moments go first, while many are left to make up for them. U is the
// inverse of the upper triangular R with H = R R^T, which is a Cholesky factor in reversed order.
#include "converter/quantize/rounding/gptq.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace embert::convert {
namespace {

constexpr std::size_t kMomentRows = 256;  // rows summed in float before they go into double
constexpr double kDamping = 0.01;         // share of the mean diagonal added to it
constexpr Eigen::Index kBlock = 64;       // inputs between two updates of all later ones
constexpr Eigen::Index kRowBlock = 256;   // outputs rounded together

using FloatRows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

float round_code(float weight, float step, float limit) {
  return std::clamp(std::floor(weight / step + 0.5F), -limit, limit);
}

// Inputs by falling diagonal, equal ones by number.
std::vector<std::size_t> order_inputs(const Moments& moments) {
  std::vector<std::size_t> order(moments.size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return moments.values[a * moments.size + a] > moments.values[b * moments.size + b];
  });
  return order;
}

// U of the head of this file, for inputs in `order`.
FloatRows inverse_factor(const Moments& moments, const std::vector<std::size_t>& order) {
  const auto size = static_cast<Eigen::Index>(moments.size);
  double trace = 0;
  for (std::size_t i = 0; i < moments.size; ++i) trace += moments.values[i * moments.size + i];
  const double damping = trace > 0 ? kDamping * trace / static_cast<double>(moments.size) : 1.0;
  Eigen::MatrixXd factor(size, size);
  // Row and column i of the reversed problem are input order[size - 1 - i].
  for (Eigen::Index j = 0; j < size; ++j) {
    const std::size_t from = order[static_cast<std::size_t>(size - 1 - j)];
    for (Eigen::Index i = 0; i < size; ++i) {
      factor(i, j) =
          moments.values[order[static_cast<std::size_t>(size - 1 - i)] * moments.size + from];
    }
    factor(j, j) += damping;
  }
  Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> cholesky(factor);  // in place
  if (cholesky.info() != Eigen::Success || !factor.diagonal().allFinite()) return {};
  Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(size, size);
  for (Eigen::Index j = 0; j < size; j += kBlock) {  // nothing above the diagonal
    const Eigen::Index width = std::min(kBlock, size - j), height = size - j;
    auto columns = inverse.block(j, j, height, width);
    factor.block(j, j, height, height).triangularView<Eigen::Lower>().solveInPlace(columns);
  }
  FloatRows upper = FloatRows::Zero(size, size);
  for (Eigen::Index i = 0; i < size; ++i) {
    for (Eigen::Index j = i; j < size; ++j) {
      upper(i, j) = static_cast<float>(inverse(size - 1 - i, size - 1 - j));
    }
  }
  return upper;
}

// Rounds outputs [first, first + count).
void round_rows(const RoundingProblem& problem, const std::vector<std::size_t>& order,
                const FloatRows& upper, Eigen::Index first, Eigen::Index count,
                RoundedWeights& out) {
  const auto inputs = static_cast<Eigen::Index>(order.size());
  const auto at = [](Eigen::Index i) { return static_cast<std::size_t>(i); };
  Eigen::MatrixXf weights(count, inputs);  // by columns: one input of all rows lies together
  for (Eigen::Index i = 0; i < inputs; ++i) {
    for (Eigen::Index n = 0; n < count; ++n) {
      weights(n, i) = problem.weights.row(at(first + n))[order[at(i)]];
    }
  }
  Eigen::MatrixXf errors(count, kBlock);
  for (Eigen::Index from = 0; from < inputs; from += kBlock) {
    const Eigen::Index end = std::min(inputs, from + kBlock), width = end - from;
    for (Eigen::Index i = from; i < end; ++i) {
      const std::size_t input = order[at(i)];
      const auto limit = static_cast<float>(problem.limit[input]);
      for (Eigen::Index n = 0; n < count; ++n) {
        const auto step = static_cast<float>(problem.step[at(first + n)]);
        const float code = round_code(weights(n, i), step, limit);
        out.codes[at(first + n) * out.inputs + input] = static_cast<std::int16_t>(code);
        errors(n, i - from) = (weights(n, i) - code * step) / upper(i, i);
      }
      for (Eigen::Index j = i + 1; j < end; ++j) {
        const float share = upper(i, j);
        for (Eigen::Index n = 0; n < count; ++n) weights(n, j) -= errors(n, i - from) * share;
      }
    }
    if (end < inputs) {
      weights.rightCols(inputs - end).noalias() -=
          errors.leftCols(width) * upper.block(from, end, width, inputs - end);
    }
  }
}

RoundedWeights round_nearest(const RoundingProblem& problem) {
  RoundedWeights out{problem.weights.rows, problem.weights.cols, {}};
  out.codes.resize(out.outputs * out.inputs);
  for (std::size_t n = 0; n < out.outputs; ++n) {
    const auto step = static_cast<float>(problem.step[n]);
    for (std::size_t c = 0; c < out.inputs; ++c) {
      out.codes[n * out.inputs + c] = static_cast<std::int16_t>(
          round_code(problem.weights.row(n)[c], step, static_cast<float>(problem.limit[c])));
    }
  }
  return out;
}

// Sum over rows of w^T moments w.
double output_power(const FloatRows& rows, const Eigen::MatrixXf& moments) {
  double power = 0;
  for (Eigen::Index n = 0; n < rows.rows(); n += kRowBlock) {
    const Eigen::Index count = std::min(kRowBlock, rows.rows() - n);
    const FloatRows part = rows.middleRows(n, count);
    const FloatRows products = part * moments;
    for (Eigen::Index r = 0; r < count; ++r) {
      for (Eigen::Index c = 0; c < part.cols(); ++c) {
        power += static_cast<double>(part(r, c)) * static_cast<double>(products(r, c));
      }
    }
  }
  return power;
}

}  // namespace

Moments measure_moments(std::size_t rows, const std::vector<double>& mean,
                        const std::function<void(std::size_t, float*)>& read_row) {
  const auto size = static_cast<Eigen::Index>(mean.size());
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(size, size);
  Eigen::MatrixXf part(size, size), block(size, static_cast<Eigen::Index>(kMomentRows));
  for (std::size_t from = 0; from < rows; from += kMomentRows) {
    const std::size_t count = std::min(kMomentRows, rows - from);
    block.setZero();
    for (std::size_t r = 0; r < count; ++r) {
      float* row = block.col(static_cast<Eigen::Index>(r)).data();
      read_row(from + r, row);
      for (std::size_t c = 0; c < mean.size(); ++c) row[c] -= static_cast<float>(mean[c]);
    }
    part.setZero();
    part.selfadjointView<Eigen::Lower>().rankUpdate(block);
    sum.triangularView<Eigen::Lower>() += part.cast<double>();
  }
  Moments moments{mean.size(), std::vector<double>(mean.size() * mean.size())};
  for (Eigen::Index j = 0; j < size; ++j) {
    for (Eigen::Index i = j; i < size; ++i) {
      const double value = sum(i, j) / static_cast<double>(rows);
      moments.values[static_cast<std::size_t>(i * size + j)] = value;
      moments.values[static_cast<std::size_t>(j * size + i)] = value;
    }
  }
  return moments;
}

RoundedWeights round_weights(const RoundingProblem& problem, const Moments& moments,
                             Rounding rounding) {
  if (rounding == Rounding::kNearest) return round_nearest(problem);
  const std::vector<std::size_t> order = order_inputs(moments);
  const FloatRows upper = inverse_factor(moments, order);
  if (upper.size() == 0) {  // not positive even with damping
    RoundedWeights nearest = round_nearest(problem);
    nearest.warning = problem.name +
                      ": moments of its calibration inputs are not positive definite; weights "
                      "rounded to the nearest";
    return nearest;
  }
  RoundedWeights out{problem.weights.rows, problem.weights.cols, {}};
  out.codes.resize(out.outputs * out.inputs);
  const auto outputs = static_cast<Eigen::Index>(out.outputs);
  for (Eigen::Index n = 0; n < outputs; n += kRowBlock) {
    round_rows(problem, order, upper, n, std::min(kRowBlock, outputs - n), out);
  }
  return out;
}

double relative_error(const RoundingProblem& problem, const RoundedWeights& rounded,
                      const Moments& moments) {
  const auto outputs = static_cast<Eigen::Index>(rounded.outputs);
  const auto inputs = static_cast<Eigen::Index>(rounded.inputs);
  const Eigen::MatrixXf h =
      Eigen::Map<const Eigen::MatrixXd>(moments.values.data(), inputs, inputs).cast<float>();
  FloatRows rows = Eigen::Map<const FloatRows>(problem.weights.data.data(), outputs, inputs);
  const double power = output_power(rows, h);
  for (Eigen::Index n = 0; n < outputs; ++n) {
    const auto at = static_cast<std::size_t>(n);
    const auto step = static_cast<float>(problem.step[at]);
    for (Eigen::Index c = 0; c < inputs; ++c) {
      rows(n, c) -= static_cast<float>(rounded.row(at)[c]) * step;
    }
  }
  const double error = output_power(rows, h);
  return power > 0 && error > 0 ? std::sqrt(error / power) : 0.0;
}

}  // namespace embert::convert
