// SPDX-License-Identifier: Apache-2.0
// How the error against float32 grows from layer to layer.
#pragma once

#include <vector>

#include "converter/model/token_batch.hpp"
#include "converter/verify/compared_output.hpp"
#include "converter/verify/integer_model.hpp"

namespace embert::convert {

/// Both models read these texts, each with the ids of its own vocabulary.
struct HiddenTexts {
  const ModelBatch &floats, &integers;
};

/// VerifyResult::hidden_errors. The model is an encoder of one stack.
std::vector<double> hidden_errors(const FloatSource& source, IntegerModel& integers,
                                  const HiddenTexts& texts);

}  // namespace embert::convert
