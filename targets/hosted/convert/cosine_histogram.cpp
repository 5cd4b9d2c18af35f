// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/convert/cosine_histogram.hpp"

#include <algorithm>
#include <cmath>

namespace embert::hosted {
namespace {

constexpr double kMostBins = 24;
constexpr double kFinestUnits = 1e7;  // a cosine of 16-bit vectors has no more digits

/// A width of step / units. The quotients of integers print without a tail of digits.
struct Width {
  double step, units;
  double bins(double range) const { return std::ceil(range * units / step - 1e-9); }
};

Width width_of(double range) {
  for (double units = kFinestUnits; units > 1; units /= 10) {
    for (const double step : {1.0, 2.0, 5.0}) {
      const Width width = {step, units};
      if (width.bins(range) <= kMostBins) return width;
    }
  }
  return {1, 10};
}

}  // namespace

std::vector<CosineBin> cosine_histogram(std::span<const double> cosines) {
  const double range = std::max(0.0, 1 - *std::min_element(cosines.begin(), cosines.end()));
  const Width width = width_of(range);
  const auto count = static_cast<size_t>(std::max(1.0, width.bins(range)));
  std::vector<CosineBin> bins;
  for (size_t i = count; i-- > 0;) {
    const double below = static_cast<double>(i) * width.step;
    bins.push_back(
        {(width.units - below - width.step) / width.units, (width.units - below) / width.units, 0});
  }
  for (const double cosine : cosines) {
    const double place = width.bins(1 - cosine);
    const auto above = static_cast<size_t>(std::max(0.0, place - 1));
    ++bins[count - 1 - std::min(above, count - 1)].texts;
  }
  return bins;
}

}  // namespace embert::hosted
