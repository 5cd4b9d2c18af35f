// SPDX-License-Identifier: Apache-2.0
// A float32 matrix: weights and sampled activations.
#pragma once

#include <cstddef>
#include <vector>

namespace embert::convert {

/// Row-major.
struct Matrix {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::vector<float> data;  ///< [rows, cols]

  const float* row(std::size_t r) const { return data.data() + r * cols; }
};

}  // namespace embert::convert
