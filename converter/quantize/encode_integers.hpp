// SPDX-License-Identifier: Apache-2.0
// Real numbers as the integers of the law (kernels/arithmetic/fixed_point.hpp), each checked against its range
// in the blob. Messages name the tensor.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "converter/model/model_weights.hpp"
#include "converter/model/quantized_model.hpp"

namespace embert::convert {

/// Largest factor that a Requantize can express.
inline constexpr double kMaxFactor = 0x1p15;

struct EncodedFactors {
  BlobShifts shifts{};
  std::vector<std::int32_t> multipliers;  ///< of each factor
};

/// factors >= 0 -> multiplier * 2^(left - right - 31), one pair of shifts for all, the largest
/// multiplier in [2^30, 2^31) (smaller only where every factor is below 2^-32).
EncodedFactors encode_factors(std::span<const double> factors, const std::string& name);

/// round(x), which must be at most `bound` in magnitude.
std::int32_t encode_integer(double x, std::int32_t bound, const std::string& name);

/// LayerNorm with input step `input_step` and output real = factor * step * t + offset.
QuantizedNorm encode_norm(const LayerNorm& norm, std::span<const double> offset,
                          std::span<const double> factor, double step, double input_step,
                          double epsilon, const std::string& name);

/// Score step (real difference of one unit) of a head -> multiplier and distance cap: from the cap
/// on every exponential is 0.
struct EncodedScore {
  std::uint32_t multiplier;
  std::int32_t cap;
};
EncodedScore encode_score(double score_step);

}  // namespace embert::convert
