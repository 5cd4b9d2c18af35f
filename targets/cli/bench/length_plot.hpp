// SPDX-License-Identifier: Apache-2.0
// The plot of `embert bench --svg`: the time of a text over its length.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace embert::cli {

/// The times of all lengths with one number of threads.
struct LengthCurve {
  std::string name;
  std::vector<double> ms;  ///< [lengths]: of texts with 1, 2, ... tokens
};

/// Returns an SVG image, for light and dark pages. All curves have the same lengths, one or more.
std::string length_plot(const std::string& title, std::span<const LengthCurve> curves);

}  // namespace embert::cli
