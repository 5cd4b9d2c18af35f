// SPDX-License-Identifier: Apache-2.0
// Pooler, classifier and token classifier. The language model's head is in quantize_lm.hpp.
#pragma once

#include "converter/model/calibration_ranges.hpp"
#include "converter/model/model_config.hpp"
#include "converter/quantize/task_heads/quantize_dense16.hpp"

namespace embert::convert {

struct TaskHeadSource {
  const ModelConfig& config;
  const ModelWeights& weights;
  const HeadRanges& ranges;
  double hidden_scale;  ///< of the last hidden states
};

void quantize_task_heads(const TaskHeadSource& source, const Dense16Rounding& rounding,
                         QuantizedModel& out);

}  // namespace embert::convert
