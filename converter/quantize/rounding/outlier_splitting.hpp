// SPDX-License-Identifier: Apache-2.0
// Outlier channel splitting (OCS, Zhao et al. 2019) of a dense layer's inputs. Where one weight of
// a row is much larger than all others, it alone decides the row's scale, and the others lose their
// bits. OCS copies that weight's input and splits the weight over the copies. The layer computes
// the same, with a finer scale. Inputs of the second feed-forward layer are copied by copying rows
// of the first one, and the runtime sees only a larger intermediate size. Inputs of the first one
// are copied by the runtime (BlobPlanes::copied_inputs).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "converter/model/matrix.hpp"
#include "converter/quantize/rounding/gptq.hpp"

namespace embert::convert {

/// Scales of the rows, and largest codes of the columns when outliers are split.
struct OutlierPlan {
  std::vector<double> scale;  ///< [outputs], positive
  std::vector<int> limit;     ///< [inputs] 127 times the number of columns that an input may take
};

/// Columns that splitting may add.
struct OutlierCopies {
  std::size_t most = 0;
  /// An outlier is a row's largest weight of more than so many times the second largest.
  double least_ratio = 1;
};

/// Splits inputs one by one while that adds at most `copies.most` columns, each time the input that
/// holds most outliers among those that are whole.
OutlierPlan plan_outlier_splitting(const Matrix& weights, const OutlierCopies& copies);

/// A layer's weights in 8 bits. The first columns are the inputs themselves, the others copies.
struct SplitWeights {
  std::vector<std::size_t> source;  ///< [columns] the input that a column reads
  std::vector<std::int8_t> codes;   ///< [outputs, columns]; an input's columns add up to its code
};
SplitWeights split_outliers(const RoundedWeights& rounded);

}  // namespace embert::convert
