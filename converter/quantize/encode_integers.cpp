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

double largest(std::span<const double> values) {
  double most = 0;
  for (const double v : values) most = std::max(most, v);
  return most;
}

// The largest exponent e <= `most` with value * 2^e < 2^bits after rounding.
int largest_exponent(double value, int bits, int most) {
  if (value == 0) return most;
  int e = std::min(most, bits - 1 - std::ilogb(value));
  if (std::floor(std::ldexp(value, e) + 0.5) >= std::ldexp(1.0, bits)) --e;
  return e;
}

}  // namespace

EncodedFactors encode_factors(std::span<const double> factors, const std::string& name) {
  for (const double f : factors) {
    if (!(f >= 0 && f < kMaxFactor)) out_of_range(name, "factor", f);
  }
  // factor = multiplier / 2^exponent, exponent = 31 + right - left
  const int exponent = std::max(16, largest_exponent(largest(factors), 31, 62));
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

QuantizedNorm encode_norm(const LayerNorm& norm, std::span<const double> offset,
                          std::span<const double> factor, double step, double input_step,
                          double epsilon, const std::string& name) {
  const std::size_t channels = factor.size();
  std::vector<double> gain(channels), bias(channels);
  double most_gain = 0, most_bias = 0;
  for (std::size_t c = 0; c < channels; ++c) {
    gain[c] = static_cast<double>(norm.gamma[c]) / (factor[c] * step);
    bias[c] = (static_cast<double>(norm.beta[c]) - offset[c]) / (factor[c] * step);
    most_gain = std::max(most_gain, std::fabs(gain[c]));
    most_bias = std::max(most_bias, std::fabs(bias[c]));
  }
  const int shift =
      std::min(largest_exponent(most_gain, 31, 38), 7 + largest_exponent(most_bias, 29, 31));
  if (shift < 8) out_of_range(name, "gain", most_gain);
  QuantizedNorm out;
  out.record.shift = shift;
  const auto n = static_cast<double>(channels);
  const double e = std::floor(epsilon / (input_step * input_step) * n * n + 0.5);
  if (!(e <= 0x1p54)) out_of_range(name, "epsilon", e);
  out.record.epsilon_n2 = std::max<std::int64_t>(1, static_cast<std::int64_t>(e));
  for (std::size_t c = 0; c < channels; ++c) {
    out.gain.push_back(encode_integer(std::ldexp(gain[c], shift), INT32_MAX, name + " gain"));
    out.bias.push_back(
        encode_integer(std::ldexp(bias[c], shift - 7), (1 << 29) - 1, name + " bias"));
  }
  return out;
}

EncodedScore encode_score(double score_step) {
  constexpr double kLog2E = 1.4426950408889634074;
  // The largest multiplier with which two steps still fit 32 bits (and give an exponential of 0).
  constexpr double kMost = 0x1p31 - 0x1p20 - 1;
  constexpr double kLeast = 3;  // with it the cap is below kMaxScoreCap
  const double exact = std::floor(score_step * 64 * kLog2E * 0x1p22 + 0.5);
  EncodedScore out{};
  out.multiplier = static_cast<std::uint32_t>(std::clamp(exact, kLeast, kMost));
  // (cap * multiplier + 2^21) >> 22 >= kExpEnd
  constexpr std::uint64_t end = std::uint64_t{2 * kExpEnd - 1} << 21;
  out.cap = static_cast<std::int32_t>((end + out.multiplier - 1) / out.multiplier);
  return out;
}

}  // namespace embert::convert
