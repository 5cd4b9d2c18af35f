// SPDX-License-Identifier: Apache-2.0
// First calibration pass: how far every activation of the stacks and task heads reaches. The second
// pass (collect_rows.hpp) needs the scales that are chosen from these ranges.
#pragma once

#include "converter/model/calibration_ranges.hpp"

namespace embert::convert {

class FloatModel;
struct ModelBatch;
struct ModelConfig;

/// Runs `model` over `batch` (at least one text). Throws ConvertError where activations are not
/// finite.
CalibrationRanges measure_ranges(FloatModel& model, const ModelConfig& config,
                                 const ModelBatch& batch);

/// Moves both ends of every LayerNorm output's range outwards by `headroom` times the range.
/// Without it these 8-bit tensors have no room beyond the calibrated range. 0 changes nothing.
void add_headroom(CalibrationRanges& ranges, double headroom);

}  // namespace embert::convert
