// SPDX-License-Identifier: Apache-2.0
// A calibration pass: the float model runs over all texts, and an observer sees every activation.
#pragma once

#include <cstddef>

#include "converter/reference/observer.hpp"

namespace embert::convert {

class FloatModel;
struct ModelBatch;

/// Shows `observer` a forward pass over all texts. The language head runs for `lm_rows` tokens,
/// evenly spread.
void observe_batch(FloatModel& model, const ModelBatch& batch, std::size_t lm_rows,
                   const Observer& observer);

}  // namespace embert::convert
