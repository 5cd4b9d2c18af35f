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
  size_t tokens;   ///< n, or 0 where there is only one length
  double percent;  ///< median of 100 (t(n) / t(n - 1)) / (macs(n) / macs(n - 1)) - 100, of passes
                   ///< one after the other
};

struct LengthTimes {
  std::vector<double> ms;  ///< [lengths]: the least of texts with 1, 2, ... tokens
  LengthStep step;
};

/// Takes the time of each length `repeats` times, and again that of the steps that look largest.
/// `macs` is [lengths], one or more; run(tokens) returns the milliseconds of a pass.
LengthTimes time_lengths(std::span<const double> macs, uint32_t repeats,
                         const std::function<double(size_t tokens)>& run);

}  // namespace embert::cli
