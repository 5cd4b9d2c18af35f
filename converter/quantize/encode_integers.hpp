// SPDX-License-Identifier: Apache-2.0
// Real numbers as the integers of the reference arithmetic (kernels/arithmetic/fixed_point.hpp).
// Each is checked against its range in the blob; a ConvertError names the tensor.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "converter/model/channel_quant.hpp"
#include "converter/model/model_weights.hpp"
#include "converter/model/quantized_model.hpp"

namespace embert::convert {

/// Factors must be below this to be expressible.
inline constexpr double kMaxFactor = 0x1p15;

struct EncodedFactors {
  BlobShifts shifts{};
  std::vector<std::int32_t> multipliers;  ///< one for each factor
};

/// factor = multiplier * 2^(left - right - 31) for factors >= 0. All share one pair of shifts; the
/// largest multiplier is in [2^30, 2^31), smaller only where every factor is below 2^-32.
EncodedFactors encode_factors(std::span<const double> factors, const std::string& name);

/// Rounds to the nearest; |result| <= bound.
std::int32_t encode_integer(double x, std::int32_t bound, const std::string& name);

/// A LayerNorm from a residual sum to `output`.
struct NormSource {
  const LayerNorm& norm;
  ChannelQuant output;  ///< its scale is that of the norm's 16-bit output
  double input_scale;   ///< of the residual sum
  double epsilon;       ///< layer_norm_eps
  std::string name;     ///< for messages
};
QuantizedNorm encode_norm(const NormSource& source);

/// The smallest scale of a LayerNorm's 16-bit output with which its gain and bias fit the blob. It
/// depends on the factors and offsets of `output`, not on its scale.
double least_norm_scale(const LayerNorm& norm, const ChannelQuant& output);

/// Scores of an attention head. From a difference of `cap` below the row's largest score on, the
/// exponential is 0.
struct EncodedScore {
  std::uint32_t multiplier;
  std::int32_t cap;
};
/// `score_scale`: real value of a difference of 1 between two scores.
EncodedScore encode_score(double score_scale);

/// Largest magnitude; 0 for no values.
float largest_magnitude(std::span<const float> values);

}  // namespace embert::convert
