// SPDX-License-Identifier: Apache-2.0
// Wide columns of the second feed-forward layer. Where one weight of a row is much larger than all
// others, it alone decides the row's step and the others lose their bits. Such an input channel is
// copied (its row of the first layer, so that the model stays the same) and its weight is split
// over the copies. The runtime knows nothing of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "converter/model/matrix.hpp"
#include "converter/quantize/rounding/gptq.hpp"

namespace embert::convert {

/// Steps of the rows and the largest code of each column when wide columns may use several bytes.
struct WidePlan {
  std::vector<double> step;  ///< [outputs], positive
  std::vector<int> limit;    ///< [inputs] 127 times the bytes that the column may use
};

/// `most_copies`: columns that may be added in all.
WidePlan plan_wide_columns(const Matrix& weights, std::size_t most_copies);

/// A layer's weights in single bytes. Columns [0, inputs) are the inputs themselves, those behind
/// them copies.
struct SplitWeights {
  std::vector<std::size_t> source;  ///< [columns] the input that a column reads
  std::vector<std::int8_t> codes;   ///< [outputs, columns], each row's copies add up to its code
};
SplitWeights split_wide_columns(const RoundedWeights& rounded);

}  // namespace embert::convert
