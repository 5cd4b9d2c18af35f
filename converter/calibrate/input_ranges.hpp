// SPDX-License-Identifier: Apache-2.0
// The ranges of what each layer's dense layers read, for a report: where values go far, and which
// channels are to blame.
#pragma once

#include <vector>

#include "converter/model/calibration_ranges.hpp"
#include "converter/model/conversion.hpp"

namespace embert::convert {

/// A channel is an outlier if it reaches so many times as far as the median channel.
inline constexpr double kOutlierReach = 5;

/// [layers of all stacks]; an input that calibration does not measure by channel is left out.
std::vector<std::vector<InputRange>> input_ranges(const CalibrationRanges& ranges);

}  // namespace embert::convert
