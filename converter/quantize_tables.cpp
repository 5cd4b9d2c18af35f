// SPDX-License-Identifier: Apache-2.0
// What stands before and behind the layers: embedding tables and the dense layers of heads.
#include <algorithm>
#include <cmath>

#include "converter/encode_numbers.hpp"
#include "converter/quantize_model.hpp"
#include "kernels/layout.hpp"

namespace embert::convert {
namespace {

constexpr double kLargestInput = 32512;  // of a 16-bit row in two planes

double largest_in(const float* values, std::size_t count) {
  float most = 0;
  for (std::size_t i = 0; i < count; ++i) most = std::max(most, std::fabs(values[i]));
  return static_cast<double>(most);
}

double largest_in(const Matrix& matrix) {
  return largest_in(matrix.data.data(), matrix.data.size());
}

std::int16_t to_s16(double x) {
  return static_cast<std::int16_t>(std::floor(std::clamp(x, -32767.0, 32767.0) + 0.5));
}

}  // namespace

double embedding_step(const BertConfig& config, const StackWeights& weights, float largest_sum) {
  const double rows = largest_in(weights.word_embeddings) +
                      largest_in(weights.position_embeddings) +
                      largest_in(weights.token_type_embeddings);
  const double step = std::max({2 * static_cast<double>(largest_sum), rows}) / 32767;
  const double least = std::sqrt(config.layer_norm_eps) * config.hidden_size * 0x1p-26;
  return std::max({step, least, 0x1p-100});
}

void quantize_embeddings(const StackWeights& weights, double step, QuantizedStack& out) {
  const Matrix& words = weights.word_embeddings;
  const std::size_t hidden = words.cols;
  out.word_embeddings.resize(words.rows * hidden);
  for (std::size_t id = 0; id < words.rows; ++id) {
    const double row_step = largest_in(words.row(id), hidden) / 127;
    out.word_multipliers.push_back(encode_integer(row_step / step * 0x1p16, kMaxWordMultiplier,
                                                  "embeddings.word_embeddings multiplier"));
    for (std::size_t c = 0; c < hidden && row_step > 0; ++c) {
      const double code = std::floor(static_cast<double>(words.row(id)[c]) / row_step + 0.5);
      out.word_embeddings[id * hidden + c] =
          static_cast<std::int8_t>(std::clamp(code, -127.0, 127.0));
    }
  }
  const Matrix& types = weights.token_type_embeddings;
  for (std::size_t p = 0; p < weights.position_embeddings.rows; ++p) {
    for (std::size_t c = 0; c < hidden; ++c) {
      out.positions.push_back(to_s16((static_cast<double>(weights.position_embeddings.row(p)[c]) +
                                      static_cast<double>(types.row(0)[c])) /
                                     step));
    }
  }
  for (std::size_t t = 0; t < types.rows; ++t) {
    for (std::size_t c = 0; c < hidden; ++c) {
      out.segments.push_back(to_s16(
          (static_cast<double>(types.row(t)[c]) - static_cast<double>(types.row(0)[c])) / step));
    }
  }
}

QuantizedHead quantize_head(const Linear& linear, const Matrix& rows, double input_step,
                            double output_step, Rounding rounding, const std::string& name,
                            double& relative_error_out, std::vector<std::string>& warnings) {
  const std::size_t outputs = linear.weight.rows, inputs = linear.weight.cols;
  QuantizedHead head;
  while (head.numbers.join_shift < 8 &&
         std::ldexp(static_cast<double>(inputs) * 127 * kLargestInput, -head.numbers.join_shift) >=
             0x1p31) {
    ++head.numbers.join_shift;
  }
  const double unit = std::ldexp(input_step, head.numbers.join_shift);

  std::vector<double> mean(inputs, 0.0);
  for (std::size_t r = 0; r < rows.rows; ++r) {
    for (std::size_t c = 0; c < inputs; ++c) mean[c] += static_cast<double>(rows.row(r)[c]);
  }
  for (double& m : mean) m /= static_cast<double>(rows.rows);
  const Moments moments = measure_moments(
      rows.rows, mean, [&](std::size_t r, float* x) { std::copy_n(rows.row(r), inputs, x); });

  RoundingProblem problem{name, linear.weight, {}, std::vector<int>(inputs, 127)};
  for (std::size_t n = 0; n < outputs; ++n) {
    double step = largest_in(linear.weight.row(n), inputs) / 127;
    const auto bias = static_cast<double>(linear.bias[n]);
    double reach = std::fabs(bias);
    for (std::size_t c = 0; c < inputs; ++c) {
      reach += std::fabs(static_cast<double>(linear.weight.row(n)[c]) * mean[c]) / 64;
    }
    step = std::max({step, reach / (unit * 0x1p28), output_step / unit * 0x1p-32});
    problem.step.push_back(step);
  }
  const RoundedWeights rounded = round_weights(problem, moments, rounding);
  if (!rounded.warning.empty()) warnings.push_back(rounded.warning);
  relative_error_out = relative_error(problem, rounded, moments);

  QuantizedDense& dense = head.dense;
  dense.outputs = pad_columns(outputs);
  dense.inputs = inputs;
  dense.weights.assign(rounded.codes.begin(), rounded.codes.end());
  dense.weights.resize(dense.outputs * inputs);
  std::vector<double> factors;
  for (std::size_t n = 0; n < outputs; ++n) {
    double bias = static_cast<double>(linear.bias[n]);
    for (std::size_t c = 0; c < inputs; ++c) {
      bias += (static_cast<double>(linear.weight.row(n)[c]) - rounded.row(n)[c] * problem.step[n]) *
              mean[c];
    }
    dense.bias.push_back(
        encode_integer(bias / (unit * problem.step[n]), kMaxDenseBias, name + " bias"));
    factors.push_back(unit * problem.step[n] / output_step);
  }
  EncodedFactors encoded = encode_factors(factors, name);
  head.numbers.shifts = encoded.shifts;
  dense.multiplier = std::move(encoded.multipliers);
  dense.bias.resize(dense.outputs);
  dense.multiplier.resize(dense.outputs);
  return head;
}

}  // namespace embert::convert
