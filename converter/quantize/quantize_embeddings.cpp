// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/quantize_embeddings.hpp"

#include <algorithm>
#include <cmath>

#include "converter/quantize/encode_integers.hpp"

namespace embert::convert {
namespace {

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

double embedding_step(const StackConfig& config, const StackWeights& weights, float largest_sum) {
  const double rows = largest_in(weights.word_embeddings) +
                      largest_in(weights.position_embeddings) +
                      largest_in(weights.token_type_embeddings);
  const double step = std::max({2 * static_cast<double>(largest_sum), rows}) / 32767;
  const double least = std::sqrt(config.layer_norm_eps) * config.hidden_size * 0x1p-26;
  return std::max({step, least, 0x1p-100});
}

void quantize_embeddings(const StackConfig& config, const StackWeights& weights, double step,
                         QuantizedStack& out) {
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
  const Matrix& positions = weights.position_embeddings;
  const Matrix& types = weights.token_type_embeddings;
  for (std::size_t p = 0; p < static_cast<std::size_t>(config.max_position_embeddings); ++p) {
    for (std::size_t c = 0; c < hidden; ++c) {
      const double position = p < positions.rows ? static_cast<double>(positions.row(p)[c]) : 0.0;
      out.positions.push_back(to_s16((position + static_cast<double>(types.row(0)[c])) / step));
    }
  }
  for (std::size_t t = 0; t < types.rows; ++t) {
    for (std::size_t c = 0; c < hidden; ++c) {
      out.segments.push_back(to_s16(
          (static_cast<double>(types.row(t)[c]) - static_cast<double>(types.row(0)[c])) / step));
    }
  }
}

}  // namespace embert::convert
