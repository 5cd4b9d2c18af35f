// SPDX-License-Identifier: Apache-2.0
// GPTQ in its Cholesky form (section 4, step 3). H is the damped Hessian, H^-1 = U^T U with U upper
// triangular. Rounding input i of a row leaves the error e_i = (w_i - q_i scale) / U_ii; the output
// changes least if each later input j then loses e_i U_ij. Inputs with a large diagonal go first,
// while many others are left to make up for them ("act order" of the authors' code). U is the
// inverse of R with H = R R^T, R upper triangular: a Cholesky factor in reversed order.
#include "converter/quantize/rounding/gptq.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "converter/arithmetic/all_finite.hpp"
#include "converter/arithmetic/matrix_product.hpp"
#include "converter/quantize/rounding/cholesky.hpp"

namespace embert::convert {
namespace {

constexpr std::size_t kHessianRows = 256;  // rows that are summed in float, then added in double
constexpr double kDamping = 0.01;          // share of the mean diagonal that is added to it
constexpr std::size_t kBlock = 64;         // inputs rounded before all later ones are updated
constexpr std::size_t kRowBlock = 256;     // outputs rounded together
constexpr std::size_t kHessianBlock = 96;  // rows of the Hessian in a product: it needs a triangle

// NaN becomes -limit, and not a number that no int16 holds.
float round_code(float weight, float scale, float limit) {
  const float code = std::floor(weight / scale + 0.5F);
  return code > -limit ? (code < limit ? code : limit) : -limit;
}

// H^-1 in a factor, for the inputs in the order in which they are rounded.
struct InverseHessian {
  std::vector<std::size_t> order;
  std::vector<float> upper;  // U [size, size]; empty where H is not positive definite in float32
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
  const std::size_t size = hessian.size, last = size - 1;
  double trace = 0;
  for (std::size_t i = 0; i < size; ++i) trace += hessian.values[i * size + i];
  const double damping = trace > 0 ? kDamping * trace / static_cast<double>(size) : 1.0;
  std::vector<double> factor(size * size);
  // Row and column i of the reversed problem are input order[last - i].
  for (std::size_t i = 0; i < size; ++i) {
    const double* const from = hessian.values.data() + order[last - i] * size;
    for (std::size_t j = 0; j < size; ++j) factor[i * size + j] = from[order[last - j]];
    factor[i * size + i] += damping;
  }
  if (!factor_cholesky(factor, size)) return out;
  const std::vector<double> inverse = invert_upper(factor, size);
  out.upper.resize(size * size);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = i; j < size; ++j) {
      out.upper[i * size + j] = static_cast<float>(inverse[(last - j) * size + last - i]);
    }
  }
  if (!all_finite(out.upper)) out.upper.clear();
  return out;
}

struct OutputRange {
  std::size_t first, count;
};

void round_outputs(const RoundingProblem& problem, const InverseHessian& inverse,
                   OutputRange outputs, RoundedWeights& out) {
  const auto& [order, upper] = inverse;
  const auto [first, count] = outputs;
  const std::size_t inputs = order.size();
  std::vector<float> weights(inputs * count);  // [inputs, count]
  for (std::size_t i = 0; i < inputs; ++i) {
    for (std::size_t n = 0; n < count; ++n) {
      weights[i * count + n] = problem.weights.row(first + n)[order[i]];
    }
  }
  std::vector<float> errors(kBlock * count);  // [kBlock, count]
  PackedMatrix<float> packed;
  for (std::size_t from = 0; from < inputs; from += kBlock) {
    const std::size_t end = std::min(inputs, from + kBlock), width = end - from;
    for (std::size_t i = from; i < end; ++i) {
      const std::size_t input = order[i];
      const auto limit = static_cast<float>(problem.limit[input]);
      const double* const scales = problem.scales_of(input) + first;
      const float diagonal = upper[i * inputs + i];
      const float* const weight = weights.data() + i * count;
      float* const error = errors.data() + (i - from) * count;
      for (std::size_t n = 0; n < count; ++n) {
        const auto scale = static_cast<float>(scales[n]);
        const float code = round_code(weight[n], scale, limit);
        out.codes[(first + n) * out.inputs + input] = static_cast<std::int16_t>(code);
        error[n] = (weight[n] - code * scale) / diagonal;
      }
      for (std::size_t j = i + 1; j < end; ++j) {
        const float share = upper[i * inputs + j];
        float* const later = weights.data() + j * count;
        for (std::size_t n = 0; n < count; ++n) later[n] -= error[n] * share;
      }
    }
    if (end == inputs) break;
    packed.assign(view_rows(errors.data(), width, count));
    const MatrixView<float> shares = {upper.data() + from * inputs + end, width, inputs - end,
                                      inputs, 1};
    subtract_product(shares.transposed(), packed,
                     ProductOut<float>{weights.data() + end * count, count, 0, count});
  }
}

RoundedWeights round_nearest(const RoundingProblem& problem) {
  RoundedWeights out{problem.weights.rows, problem.weights.cols, {}};
  out.codes.resize(out.outputs * out.inputs);
  for (std::size_t n = 0; n < out.outputs; ++n) {
    for (std::size_t c = 0; c < out.inputs; ++c) {
      const auto scale = static_cast<float>(problem.scales_of(c)[n]);
      out.codes[n * out.inputs + c] = static_cast<std::int16_t>(
          round_code(problem.weights.row(n)[c], scale, static_cast<float>(problem.limit[c])));
    }
  }
  return out;
}

// Sum over the rows w [outputs, inputs] of w^T H w.
double output_power(const std::vector<float>& rows, const PackedMatrix<float>& hessian) {
  const std::size_t inputs = hessian.rows();
  std::vector<float> products(rows.size());  // [outputs, inputs]
  add_product(view_rows(rows.data(), rows.size() / inputs, inputs), hessian,
              ProductOut<float>{products.data(), inputs, 0, inputs});
  double power = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    power += static_cast<double>(rows[i]) * static_cast<double>(products[i]);
  }
  return power;
}

}  // namespace

Hessian measure_hessian(std::size_t rows, const std::vector<double>& mean,
                        const std::function<void(std::size_t, float*)>& read_row) {
  const std::size_t size = mean.size();
  Hessian hessian{size, std::vector<double>(size * size)};
  std::vector<float> part(size * size), block(kHessianRows * size);
  PackedMatrix<float> packed;
  for (std::size_t from = 0; from < rows; from += kHessianRows) {
    const std::size_t count = std::min(kHessianRows, rows - from);
    for (std::size_t r = 0; r < count; ++r) {
      float* const row = block.data() + r * size;
      read_row(from + r, row);
      for (std::size_t c = 0; c < size; ++c) row[c] -= static_cast<float>(mean[c]);
    }
    const MatrixView<float> view = view_rows(block.data(), count, size);
    packed.assign(view);
    std::fill(part.begin(), part.end(), 0.0F);
    for (std::size_t i = 0; i < size; i += kHessianBlock) {  // the lower triangle
      const std::size_t end = std::min(size, i + kHessianBlock);
      MatrixView<float> columns = view.transposed().rows_from(i);
      columns.rows = end - i;
      add_product(columns, packed, ProductOut<float>{part.data() + i * size, size, 0, end});
    }
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        hessian.values[i * size + j] += static_cast<double>(part[i * size + j]);
      }
    }
  }
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double value = hessian.values[i * size + j] / static_cast<double>(rows);
      hessian.values[i * size + j] = hessian.values[j * size + i] = value;
    }
  }
  return hessian;
}

RoundedWeights round_weights(const RoundingProblem& problem, const Hessian& hessian,
                             Rounding rounding) {
  if (rounding == Rounding::kNearest) return round_nearest(problem);
  const InverseHessian inverse = invert(hessian);
  if (inverse.upper.empty()) {  // not positive definite even with damping
    RoundedWeights nearest = round_nearest(problem);
    nearest.warning = problem.name +
                      ": the Hessian of its calibration inputs is not positive definite; weights "
                      "rounded to the nearest";
    return nearest;
  }
  RoundedWeights out{problem.weights.rows, problem.weights.cols, {}};
  out.codes.resize(out.outputs * out.inputs);
  for (std::size_t n = 0; n < out.outputs; n += kRowBlock) {
    round_outputs(problem, inverse, {.first = n, .count = std::min(kRowBlock, out.outputs - n)},
                  out);
  }
  return out;
}

double relative_error(const RoundingProblem& problem, const RoundedWeights& rounded,
                      const Hessian& hessian) {
  const std::vector<float> values(hessian.values.begin(), hessian.values.end());
  const PackedMatrix<float> h(view_rows(values.data(), hessian.size, hessian.size));
  std::vector<float> rows = problem.weights.data;
  const double power = output_power(rows, h);
  for (std::size_t n = 0; n < rounded.outputs; ++n) {
    for (std::size_t c = 0; c < rounded.inputs; ++c) {
      const auto scale = static_cast<float>(problem.scales_of(c)[n]);
      rows[n * rounded.inputs + c] -= static_cast<float>(rounded.row(n)[c]) * scale;
    }
  }
  const double error = output_power(rows, h);
  return power > 0 && error > 0 ? std::sqrt(error / power) : 0.0;
}

}  // namespace embert::convert
