// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/encode_integers.hpp"

#include <algorithm>
#include <cmath>

#include "converter/convert_error.hpp"
#include "kernels/arithmetic/fixed_point.hpp"

namespace embert::convert {
namespace {

[[noreturn]] void out_of_range(const std::string& name, const char* what, double value) {
  throw ConvertError(name + ": " + what + " " + std::to_string(value) +
                     " does not fit the integer arithmetic; the weights of this tensor are too far "
                     "apart from what calibration saw");
}

double largest_factor(std::span<const double> factors) {
  double most = 0;
  for (const double f : factors) most = std::max(most, f);
  return most;
}

// The largest exponent e <= `limit` with value * 2^e < 2^bits after rounding.
int largest_exponent(double value, int bits, int limit) {
  if (value == 0) return limit;
  int e = std::min(limit, bits - 1 - std::ilogb(value));
  if (std::floor(std::ldexp(value, e) + 0.5) >= std::ldexp(1.0, bits)) --e;
  return e;
}

}  // namespace

EncodedFactors encode_factors(std::span<const double> factors, const std::string& name) {
  for (const double f : factors) {
    if (!(f >= 0 && f < kMaxFactor)) out_of_range(name, "factor", f);
  }
  // factor = multiplier / 2^exponent, exponent = 31 + right - left
  const int exponent = std::max(16, largest_exponent(largest_factor(factors), 31, 62));
  EncodedFactors out;
  out.shifts.left = std::max(0, 31 - exponent);
  out.shifts.right = std::max(0, exponent - 31);
  for (const double f : factors) {
    out.multipliers.push_back(
        encode_integer(std::ldexp(f, exponent), INT32_MAX, name + " multiplier"));
  }
  return out;
}

std::int32_t encode_integer(double x, std::int32_t bound, const std::string& name) {
  const double rounded = std::floor(x + 0.5);
  if (!(std::fabs(rounded) <= static_cast<double>(bound))) out_of_range(name, "value", x);
  return static_cast<std::int32_t>(rounded);
}

QuantizedNorm encode_norm(const NormSource& source) {
  const LayerNorm& norm = source.norm;
  const auto& [offset, factor, scale] = source.output;
  const std::size_t channels = factor.size();
  std::vector<double> gain(channels), bias(channels);
  double most_gain = 0, most_bias = 0;
  for (std::size_t c = 0; c < channels; ++c) {
    gain[c] = static_cast<double>(norm.gamma[c]) / (factor[c] * scale);
    bias[c] = (static_cast<double>(norm.beta[c]) - offset[c]) / (factor[c] * scale);
    most_gain = std::max(most_gain, std::fabs(gain[c]));
    most_bias = std::max(most_bias, std::fabs(bias[c]));
  }
  const int shift =
      std::min(largest_exponent(most_gain, 31, 38), 7 + largest_exponent(most_bias, 29, 31));
  if (shift < 8) out_of_range(source.name, "gain", most_gain);
  QuantizedNorm out;
  out.record.shift = shift;
  const auto n = static_cast<double>(channels);
  const double e =
      std::floor(source.epsilon / (source.input_scale * source.input_scale) * n * n + 0.5);
  if (!(e <= 0x1p54)) out_of_range(source.name, "epsilon", e);
  out.record.epsilon_n2 = std::max<std::int64_t>(1, static_cast<std::int64_t>(e));
  for (std::size_t c = 0; c < channels; ++c) {
    out.gain.push_back(
        encode_integer(std::ldexp(gain[c], shift), INT32_MAX, source.name + " gain"));
    out.bias.push_back(
        encode_integer(std::ldexp(bias[c], shift - 7), (1 << 29) - 1, source.name + " bias"));
  }
  return out;
}

double least_norm_scale(const LayerNorm& norm, const ChannelQuant& output) {
  double least = 0;
  for (std::size_t c = 0; c < output.factor.size(); ++c) {
    const double gain = std::fabs(static_cast<double>(norm.gamma[c])) / output.factor[c];
    const double bias =
        std::fabs(static_cast<double>(norm.beta[c]) - output.offset[c]) / output.factor[c];
    // With the smallest shift, 8: gain * 2^8 < 2^31 and bias * 2 < 2^29, and some room to round.
    least = std::max({least, gain * 0x1p-22, bias * 0x1p-27});
  }
  return least > 0 ? least : 0x1p-40;
}

EncodedScore encode_score(double score_scale) {
  constexpr double kLog2E = 1.4426950408889634074;
  // With the largest multiplier a difference of two still fits 32 bits, and its exponential is 0.
  constexpr double kMost = 0x1p31 - 0x1p20 - 1;
  constexpr double kLeast = kMinScoreMultiplier14;  // keeps the caps below kMaxScoreCap
  const double exact = std::floor(score_scale * 64 * kLog2E * 0x1p22 + 0.5);
  EncodedScore out{};
  out.multiplier = static_cast<std::uint32_t>(std::clamp(exact, kLeast, kMost));
  // The smallest cap with (cap * multiplier + 2^21) >> 22 >= kExpEnd.
  constexpr std::uint64_t end = std::uint64_t{2 * kExpEnd - 1} << 21;
  out.cap = static_cast<std::int32_t>((end + out.multiplier - 1) / out.multiplier);
  return out;
}

float largest_magnitude(std::span<const float> values) {
  float most = 0;
  for (const float v : values) most = std::max(most, std::fabs(v));
  return most;
}

}  // namespace embert::convert
