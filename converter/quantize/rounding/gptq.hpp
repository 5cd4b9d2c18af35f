// SPDX-License-Identifier: Apache-2.0
// Rounding of a dense layer's weights to 8 bits: to the nearest, or one input after another with
// the error of each spread over the inputs still to come, so that the layer's *output* on
// calibration rows changes least (GPTQ, Frantar et al. 2022).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "converter/model/matrix.hpp"

namespace embert::convert {

enum class Rounding { kNearest, kErrorCompensated };

/// Second moments of a layer's centred input rows.
struct Moments {
  std::size_t size = 0;
  std::vector<double> values;  ///< [size, size], symmetric
};

/// Mean over rows of (x - mean)(x - mean)^T; read_row(r, x) writes row r. Runs in one thread with a
/// fixed order of sums.
Moments measure_moments(std::size_t rows, const std::vector<double>& mean,
                        const std::function<void(std::size_t, float*)>& read_row);

struct RoundingProblem {
  std::string name;          ///< of the layer, for messages
  Matrix weights;            ///< [outputs, inputs], folded
  std::vector<double> step;  ///< [outputs] real weight of a code
  std::vector<int> limit;    ///< [inputs] largest code, 127 but for wide columns
};

struct RoundedWeights {
  std::size_t outputs = 0, inputs = 0;
  std::vector<std::int16_t> codes;  ///< [outputs, inputs], |code| <= limit[input]
  std::string warning = {};         ///< one line where the rounding is not what was asked for

  const std::int16_t* row(std::size_t n) const { return codes.data() + n * inputs; }
};

/// Rounds to the nearest, with a warning, where the moments are not those of any rows.
RoundedWeights round_weights(const RoundingProblem& problem, const Moments& moments,
                             Rounding rounding);

/// Root of the output error's power over the output's, both over the calibration rows; 0 where
/// there is no output.
double relative_error(const RoundingProblem& problem, const RoundedWeights& rounded,
                      const Moments& moments);

}  // namespace embert::convert
