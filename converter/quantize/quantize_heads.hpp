// SPDX-License-Identifier: Apache-2.0
// The dense layers of heads on 16-bit rows: pooler, classifiers, and the projection between two
// stacks. The language head is in quantize_lm.hpp.
#pragma once

#include <string>
#include <vector>

#include "converter/model/calibration_ranges.hpp"
#include "converter/model/model_config.hpp"
#include "converter/model/model_weights.hpp"
#include "converter/model/quantized_model.hpp"
#include "converter/quantize/rounding/gptq.hpp"

namespace embert::convert {

/// Error of a head's output from rounding its weights, as LayerErrors.
struct HeadError {
  std::string name;
  double error = 0;
};

/// What quantising leaves behind beside the model.
struct HeadReport {
  std::vector<HeadError>& errors;
  std::vector<std::string>& warnings;
};

/// Real input = input_step * value, real output = output_step * result. `rows` are calibration
/// inputs (real).
QuantizedDense16 quantize_head(const Linear& linear, const Matrix& rows, double input_step,
                               double output_step, Rounding rounding, const std::string& name,
                               const HeadReport& report);

/// Pooler and classifiers of `config`, on last hidden states with step `hidden_step`.
void quantize_heads(const ModelConfig& config, const ModelWeights& weights,
                    const HeadRanges& ranges, double hidden_step, Rounding rounding,
                    QuantizedModel& out, const HeadReport& report);

}  // namespace embert::convert
