// SPDX-License-Identifier: Apache-2.0
// Times of all lengths of a text, and the largest step from one to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace embert::cli {

/// The length whose time exceeds that of the length before by most, beyond its multiply-adds.
struct LengthStep {
  size_t tokens;   ///< 0 where there is only one length
  double percent;  ///< 100 (ms[n] / ms[n - 1]) / (macs[n] / macs[n - 1]) - 100, the median of many
};

struct LengthTimes {
  std::vector<double> ms;  ///< [lengths]: the least of texts with 1, 2, ... tokens
  LengthStep step;
};

/// Takes the time of each length `repeats` times and more. `macs` is [lengths]; run(tokens) takes
/// a pass and returns its milliseconds.
LengthTimes time_lengths(std::span<const double> macs, uint32_t repeats,
                         const std::function<double(size_t tokens)>& run);

}  // namespace embert::cli
