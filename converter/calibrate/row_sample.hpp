// SPDX-License-Identifier: Apache-2.0
// A sample of many calibration rows, evenly spread over them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "converter/model/matrix.hpp"
#include "converter/reference/observer.hpp"

namespace embert::convert {

/// Selects `most` of `total` rows, or all of them where there are fewer.
class RowSelection {
 public:
  RowSelection(std::size_t total, std::size_t most) : total_(total), kept_(std::min(total, most)) {}

  std::size_t kept() const { return kept_; }
  /// Number of kept rows before `row`, row <= total.
  std::size_t kept_before(std::size_t row) const { return total_ > 0 ? row * kept_ / total_ : 0; }
  bool keeps(std::size_t row) const { return kept_before(row + 1) != kept_before(row); }

 private:
  std::size_t total_, kept_;
};

/// Collects the selected rows of an activation, chunk after chunk.
class RowSample {
 public:
  RowSample(std::size_t total, std::size_t most) : selection_(total, most) {}

  void add(const Activation& a) {
    rows_.cols = a.cols;
    for (std::size_t r = 0; r < a.rows; ++r, ++seen_) {
      if (!selection_.keeps(seen_)) continue;
      rows_.data.insert(rows_.data.end(), a.data + r * a.cols, a.data + (r + 1) * a.cols);
      ++rows_.rows;
    }
  }
  Matrix take() { return std::move(rows_); }

 private:
  RowSelection selection_;
  std::size_t seen_ = 0;
  Matrix rows_;
};

}  // namespace embert::convert
