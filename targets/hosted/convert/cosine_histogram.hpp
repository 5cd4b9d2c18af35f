// SPDX-License-Identifier: Apache-2.0
// How many texts have which cosine to float32.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace embert::hosted {

/// Texts whose cosine is above `from` and at most `to`; the first bin has `from`, too.
struct CosineBin {
  double from, to;
  size_t texts;
};

/// At most 24 bins of equal width, 1, 2 or 5 times a power of ten, from below the least cosine up
/// to 1. At least one cosine.
std::vector<CosineBin> cosine_histogram(std::span<const double> cosines);

}  // namespace embert::hosted
