// SPDX-License-Identifier: Apache-2.0
// Rounds a dense layer's weights to 8 bits: to the nearest, or by GPTQ (Frantar et al. 2022,
// section 4). GPTQ rounds one input after another and spreads the error of each over the inputs
// that are still to come, so that the layer's output on calibration rows changes least.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "converter/model/conversion.hpp"
#include "converter/model/matrix.hpp"

namespace embert::convert {

/// Covariance of a layer's input rows. The Hessian of the squared output error is twice this (GPTQ,
/// section 3); the factor does not matter.
struct Hessian {
  std::size_t size = 0;
  std::vector<double> values;  ///< [size, size], symmetric
};

/// Mean over rows of (x - mean)(x - mean)^T; read_row(r, x) writes row r to x. Runs in one thread
/// and sums in a fixed order.
Hessian measure_hessian(std::size_t rows, const std::vector<double>& mean,
                        const std::function<void(std::size_t, float*)>& read_row);

struct RoundingProblem {
  std::string name;                   ///< of the layer, for messages
  Matrix weights;                     ///< [outputs, inputs], smoothed
  std::vector<double> scale;          ///< [groups, outputs] real weight of a code
  std::vector<int> limit;             ///< [inputs] largest code: 127, more where outliers are split
  std::vector<std::uint8_t> group{};  ///< [inputs] with scales of their own; empty: one for all

  /// [outputs]
  const double* scales_of(std::size_t input) const {
    return scale.data() + (group.empty() ? 0 : group[input] * weights.rows);
  }
};

struct RoundedWeights {
  std::size_t outputs = 0, inputs = 0;
  std::vector<std::int16_t> codes;  ///< [outputs, inputs], |code| <= limit[input]
  std::string warning = {};         ///< one line where GPTQ was asked for and could not run

  const std::int16_t* row(std::size_t n) const { return codes.data() + n * inputs; }
};

/// Rounds to the nearest, with a warning, where `hessian` is not positive definite.
RoundedWeights round_weights(const RoundingProblem& problem, const Hessian& hessian,
                             Rounding rounding);

/// sqrt(power of the output's error / power of the output) over the calibration rows; 0 where the
/// output has no power.
double relative_error(const RoundingProblem& problem, const RoundedWeights& rounded,
                      const Hessian& hessian);

}  // namespace embert::convert
