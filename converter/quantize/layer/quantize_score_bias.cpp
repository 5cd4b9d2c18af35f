// SPDX-License-Identifier: Apache-2.0
// With s_q and s_k the scales of queries and keys, a score in units of s_q s_k is
// q8.k8 + b sqrt(D) / (s_q s_k).
#include "converter/quantize/layer/quantize_score_bias.hpp"

#include <algorithm>
#include <cmath>

#include "converter/quantize/encode_integers.hpp"
#include "kernels/arithmetic/fixed_point.hpp"

namespace embert::convert {
namespace {

double bias_scale(const Matrix& bias) {
  const double most = static_cast<double>(largest_magnitude(bias.data));
  return most > 0 ? most / kMaxScoreBias : 1.0;
}

double root(std::size_t head_size) { return std::sqrt(static_cast<double>(head_size)); }

}  // namespace

std::vector<std::int32_t> quantize_score_bias(const Matrix& bias) {
  std::vector<std::int32_t> out;
  const double scale = bias_scale(bias);
  for (const float value : bias.data) {
    out.push_back(encode_integer(static_cast<double>(value) / scale, kMaxScoreBias,
                                 "relative_attention_bias"));
  }
  return out;
}

void make_room_for_bias(const Matrix& bias, std::size_t head_size, HeadScales& scales) {
  const double longest_squared = 127.0 * 127.0 * static_cast<double>(head_size);
  const double room = kScoreBound - 4 - longest_squared;
  for (std::size_t h = 0; h < scales.key.size(); ++h) {
    const auto most = static_cast<double>(largest_magnitude({bias.row(h), bias.cols}));
    scales.key[h] = std::max(scales.key[h], most * root(head_size) / (scales.query[h] * room));
  }
}

std::vector<std::int32_t> encode_bias_ratios(const Matrix& bias, std::size_t head_size,
                                             const HeadScales& scales, const std::string& name,
                                             BlobShifts& shifts) {
  std::vector<double> ratios;
  for (std::size_t h = 0; h < scales.key.size(); ++h) {
    const bool zero = largest_magnitude({bias.row(h), bias.cols}) == 0;
    ratios.push_back(zero ? 0.0
                          : bias_scale(bias) * root(head_size) / (scales.query[h] * scales.key[h]));
  }
  EncodedFactors encoded = encode_factors(ratios, name);
  shifts = encoded.shifts;
  return std::move(encoded.multipliers);
}

}  // namespace embert::convert
