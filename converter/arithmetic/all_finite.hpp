// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace embert::convert {

/// Whether no value is infinite or NaN.
template <typename T>
bool all_finite(const std::vector<T>& values) {
  return std::ranges::all_of(values, [](T value) { return std::isfinite(value); });
}

}  // namespace embert::convert
