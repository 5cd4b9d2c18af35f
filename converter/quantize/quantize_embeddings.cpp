// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/quantize_embeddings.hpp"

#include <algorithm>
#include <cmath>

#include "converter/quantize/encode_integers.hpp"

namespace embert::convert {
namespace {

double largest_in_table(const Matrix& table) {
  return static_cast<double>(largest_magnitude(table.data));
}

std::int16_t round_to_s16(double x) {
  return static_cast<std::int16_t>(std::floor(std::clamp(x, -32767.0, 32767.0) + 0.5));
}

}  // namespace

double embedding_sum_scale(const StackConfig& config, const StackWeights& weights,
                           const StackRanges& ranges) {
  const double words = weights.word_projection ? 2 * static_cast<double>(ranges.word_sum)
                                               : largest_in_table(weights.word_embeddings);
  const double rows = words + largest_in_table(weights.position_embeddings) +
                      largest_in_table(weights.token_type_embeddings);
  const double scale = std::max({2 * static_cast<double>(ranges.embedding_sum), rows}) / 32767;
  // Large enough for the first LayerNorm's epsilon_n2 to fit.
  const double eps = std::max(config.layer_norm_eps, config.closing_norm_eps);
  const double least = std::sqrt(eps) * config.embedding_size() * 0x1p-26;
  return std::max({scale, least, kLeastScale});
}

double word_scale(const StackWeights& weights) {
  return std::max(largest_in_table(weights.word_embeddings) / 32767, kLeastScale);
}

void make_room_for_tables(const StackWeights& weights, ChannelQuant& input) {
  const Matrix &positions = weights.position_embeddings, &types = weights.token_type_embeddings;
  for (std::size_t c = 0; c < types.cols; ++c) {
    double position = 0, type = 0;
    for (std::size_t p = 0; p < positions.rows; ++p) {
      position = std::max(position, std::fabs(static_cast<double>(positions.row(p)[c])));
    }
    for (std::size_t t = 0; t < types.rows; ++t) {
      type = std::max(type, std::fabs(static_cast<double>(types.row(t)[c])));
    }
    // 16-bit values are 128 times as fine as the codes.
    input.scale = std::max(input.scale, (position + 2 * type) / input.factor[c] / 256);
  }
}

void quantize_words(const Matrix& tokens, double scale, QuantizedStack& out) {
  const std::size_t size = tokens.cols;
  out.word_embeddings.resize(tokens.rows * size);
  for (std::size_t id = 0; id < tokens.rows; ++id) {
    const double row_scale = static_cast<double>(largest_magnitude({tokens.row(id), size})) / 127;
    out.word_multipliers.push_back(encode_integer(row_scale / scale * 0x1p16, kMaxWordMultiplier,
                                                  "embeddings.word_embeddings multiplier"));
    for (std::size_t c = 0; c < size && row_scale > 0; ++c) {
      const double code = std::floor(static_cast<double>(tokens.row(id)[c]) / row_scale + 0.5);
      out.word_embeddings[id * size + c] =
          static_cast<std::int8_t>(std::clamp(code, -127.0, 127.0));
    }
  }
}

void quantize_tables(const StackConfig& config, const StackWeights& weights,
                     const ChannelQuant& sum, QuantizedStack& out) {
  const std::size_t size = weights.token_type_embeddings.cols;
  const auto scale = [&](std::size_t c) { return sum.factor[c] * sum.scale; };
  // Every token has a segment, mostly 0: segment 0 goes into the positions, and the others' rows
  // are differences to it.
  const Matrix& positions = weights.position_embeddings;
  const Matrix& segments = weights.token_type_embeddings;
  const int counted = config.rotary ? 1 : config.max_position_embeddings;
  const auto rows = static_cast<std::size_t>(counted + (config.padding_position_id >= 0 ? 1 : 0));
  for (std::size_t p = 0; p < rows; ++p) {
    for (std::size_t c = 0; c < size; ++c) {
      const double position = p < positions.rows ? static_cast<double>(positions.row(p)[c]) : 0.0;
      out.positions.push_back(
          round_to_s16((position + static_cast<double>(segments.row(0)[c])) / scale(c)));
    }
  }
  for (std::size_t t = 0; t < segments.rows; ++t) {
    for (std::size_t c = 0; c < size; ++c) {
      const double difference =
          static_cast<double>(segments.row(t)[c]) - static_cast<double>(segments.row(0)[c]);
      out.segments.push_back(round_to_s16(difference / scale(c)));
    }
  }
}

}  // namespace embert::convert
