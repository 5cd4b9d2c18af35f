// SPDX-License-Identifier: Apache-2.0
// First pass over the calibration texts: how far every activation of the stacks reaches. What the
// heads read is in calibrate_heads.hpp; the second pass, which needs the steps chosen from this
// one, is calibration_rows.hpp.
#pragma once

#include "converter/model/calibration_ranges.hpp"
#include "converter/model/model_config.hpp"
#include "converter/model/token_batch.hpp"
#include "converter/reference/float_model.hpp"

namespace embert::convert {

/// Runs `model` over `batch` (at least one text). Throws ConvertError where its values are not
/// finite.
CalibrationRanges measure_ranges(FloatModel& model, const ModelConfig& config,
                                 const ModelBatch& batch);

/// Moves both ends of every LayerNorm's output outwards by `headroom` of its range: what has 8 bits
/// for what calibration saw and none for more. 0 changes nothing.
void add_headroom(CalibrationRanges& ranges, double headroom);

}  // namespace embert::convert
