// SPDX-License-Identifier: Apache-2.0
// GPTQ in its Cholesky form (section 4, step 3). H is the damped Hessian, H^-1 = U^T U with U upper
// triangular. Rounding input i of a row leaves the error e_i = (w_i - q_i scale) / U_ii; the output
// changes least if each later input j then loses e_i U_ij. Inputs with a large diagonal go first,
// while many others are left to make up for them ("act order" of the authors' code). U is the
// inverse of R with H = R R^T, R upper triangular: a Cholesky factor in reversed order.
#include "converter/quantize/rounding/gptq.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace embert::convert {
namespace {

constexpr std::size_t kHessianRows = 256;  // rows that are summed in float, then added in double
constexpr double kDamping = 0.01;          // share of the mean diagonal that is added to it
constexpr Eigen::Index kBlock = 64;        // inputs rounded before all later ones are updated
constexpr Eigen::Index kRowBlock = 256;    // outputs rounded together

using FloatRows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

float round_code(float weight, float scale, float limit) {
  return std::clamp(std::floor(weight / scale + 0.5F), -limit, limit);
}

// H^-1 in a factor, for the inputs in the order in which they are rounded.
struct InverseHessian {
  std::vector<std::size_t> order;
  FloatRows upper;  // U; empty where H is not positive definite
};

// Inputs by falling diagonal; equal ones keep their order.
std::vector<std::size_t> rounding_order(const Hessian& hessian) {
  std::vector<std::size_t> order(hessian.size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return hessian.values[a * hessian.size + a] > hessian.values[b * hessian.size + b];
  });
  return order;
}

InverseHessian invert(const Hessian& hessian) {
  InverseHessian out{.order = rounding_order(hessian), .upper = {}};
  const std::vector<std::size_t>& order = out.order;
  const auto size = static_cast<Eigen::Index>(hessian.size);
  double trace = 0;
  for (std::size_t i = 0; i < hessian.size; ++i) trace += hessian.values[i * hessian.size + i];
  const double damping = trace > 0 ? kDamping * trace / static_cast<double>(hessian.size) : 1.0;
  Eigen::MatrixXd factor(size, size);
  // Row and column i of the reversed problem are input order[size - 1 - i].
  for (Eigen::Index j = 0; j < size; ++j) {
    const std::size_t from = order[static_cast<std::size_t>(size - 1 - j)];
    for (Eigen::Index i = 0; i < size; ++i) {
      factor(i, j) =
          hessian.values[order[static_cast<std::size_t>(size - 1 - i)] * hessian.size + from];
    }
    factor(j, j) += damping;
  }
  Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> cholesky(factor);  // in place
  if (cholesky.info() != Eigen::Success || !factor.diagonal().allFinite()) return out;
  Eigen::MatrixXd inverse = Eigen::MatrixXd::Identity(size, size);
  for (Eigen::Index j = 0; j < size; j += kBlock) {  // the inverse is lower triangular, too
    const Eigen::Index width = std::min(kBlock, size - j), height = size - j;
    auto columns = inverse.block(j, j, height, width);
    factor.block(j, j, height, height).triangularView<Eigen::Lower>().solveInPlace(columns);
  }
  out.upper = FloatRows::Zero(size, size);
  for (Eigen::Index i = 0; i < size; ++i) {
    for (Eigen::Index j = i; j < size; ++j) {
      out.upper(i, j) = static_cast<float>(inverse(size - 1 - i, size - 1 - j));
    }
  }
  return out;
}

struct OutputRange {
  Eigen::Index first, count;
};

void round_outputs(const RoundingProblem& problem, const InverseHessian& inverse,
                   OutputRange outputs, RoundedWeights& out) {
  const auto& [order, upper] = inverse;
  const auto [first, count] = outputs;
  const auto inputs = static_cast<Eigen::Index>(order.size());
  const auto at = [](Eigen::Index i) { return static_cast<std::size_t>(i); };
  Eigen::MatrixXf weights(count, inputs);  // column-major: one input of all rows is contiguous
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
        const auto scale = static_cast<float>(problem.scale[at(first + n)]);
        const float code = round_code(weights(n, i), scale, limit);
        out.codes[at(first + n) * out.inputs + input] = static_cast<std::int16_t>(code);
        errors(n, i - from) = (weights(n, i) - code * scale) / upper(i, i);
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
    const auto scale = static_cast<float>(problem.scale[n]);
    for (std::size_t c = 0; c < out.inputs; ++c) {
      out.codes[n * out.inputs + c] = static_cast<std::int16_t>(
          round_code(problem.weights.row(n)[c], scale, static_cast<float>(problem.limit[c])));
    }
  }
  return out;
}

// Sum over the rows w of w^T H w.
double output_power(const FloatRows& rows, const Eigen::MatrixXf& hessian) {
  double power = 0;
  for (Eigen::Index n = 0; n < rows.rows(); n += kRowBlock) {
    const Eigen::Index count = std::min(kRowBlock, rows.rows() - n);
    const FloatRows part = rows.middleRows(n, count);
    const FloatRows products = part * hessian;
    for (Eigen::Index r = 0; r < count; ++r) {
      for (Eigen::Index c = 0; c < part.cols(); ++c) {
        power += static_cast<double>(part(r, c)) * static_cast<double>(products(r, c));
      }
    }
  }
  return power;
}

}  // namespace

Hessian measure_hessian(std::size_t rows, const std::vector<double>& mean,
                        const std::function<void(std::size_t, float*)>& read_row) {
  const auto size = static_cast<Eigen::Index>(mean.size());
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(size, size);
  Eigen::MatrixXf part(size, size), block(size, static_cast<Eigen::Index>(kHessianRows));
  for (std::size_t from = 0; from < rows; from += kHessianRows) {
    const std::size_t count = std::min(kHessianRows, rows - from);
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
  Hessian hessian{mean.size(), std::vector<double>(mean.size() * mean.size())};
  for (Eigen::Index j = 0; j < size; ++j) {
    for (Eigen::Index i = j; i < size; ++i) {
      const double value = sum(i, j) / static_cast<double>(rows);
      hessian.values[static_cast<std::size_t>(i * size + j)] = value;
      hessian.values[static_cast<std::size_t>(j * size + i)] = value;
    }
  }
  return hessian;
}

RoundedWeights round_weights(const RoundingProblem& problem, const Hessian& hessian,
                             Rounding rounding) {
  if (rounding == Rounding::kNearest) return round_nearest(problem);
  const InverseHessian inverse = invert(hessian);
  if (inverse.upper.size() == 0) {  // not positive definite even with damping
    RoundedWeights nearest = round_nearest(problem);
    nearest.warning = problem.name +
                      ": the Hessian of its calibration inputs is not positive definite; weights "
                      "rounded to the nearest";
    return nearest;
  }
  RoundedWeights out{problem.weights.rows, problem.weights.cols, {}};
  out.codes.resize(out.outputs * out.inputs);
  const auto outputs = static_cast<Eigen::Index>(out.outputs);
  for (Eigen::Index n = 0; n < outputs; n += kRowBlock) {
    round_outputs(problem, inverse, {.first = n, .count = std::min(kRowBlock, outputs - n)}, out);
  }
  return out;
}

double relative_error(const RoundingProblem& problem, const RoundedWeights& rounded,
                      const Hessian& hessian) {
  const auto outputs = static_cast<Eigen::Index>(rounded.outputs);
  const auto inputs = static_cast<Eigen::Index>(rounded.inputs);
  const Eigen::MatrixXf h =
      Eigen::Map<const Eigen::MatrixXd>(hessian.values.data(), inputs, inputs).cast<float>();
  FloatRows rows = Eigen::Map<const FloatRows>(problem.weights.data.data(), outputs, inputs);
  const double power = output_power(rows, h);
  for (Eigen::Index n = 0; n < outputs; ++n) {
    const auto at = static_cast<std::size_t>(n);
    const auto scale = static_cast<float>(problem.scale[at]);
    for (Eigen::Index c = 0; c < inputs; ++c) {
      rows(n, c) -= static_cast<float>(rounded.row(at)[c]) * scale;
    }
  }
  const double error = output_power(rows, h);
  return power > 0 && error > 0 ? std::sqrt(error / power) : 0.0;
}

}  // namespace embert::convert
