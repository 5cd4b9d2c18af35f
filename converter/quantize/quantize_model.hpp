// SPDX-License-Identifier: Apache-2.0
// Calibration and quantisation of a whole model: float32 weights in, integers out.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "converter/model/conversion.hpp"
#include "converter/model/model_config.hpp"
#include "converter/model/model_weights.hpp"
#include "converter/model/quantized_model.hpp"
#include "converter/model/token_batch.hpp"

namespace embert::convert {

class FloatModel;
class Workers;

struct QuantizeSource {
  const ModelConfig& config;
  const ModelWeights& weights;
  FloatModel& floats;       ///< the float model of `config` and `weights`
  const ModelBatch& batch;  ///< calibration texts, at least one
};

struct QuantizeOptions {
  Rounding rounding = Rounding::kGptq;
  Precision precision = Precision::kFast;  ///< kHigh: scales for inputs of 16 bits
  std::size_t max_rows = 0;                ///< calibration rows for each GEMM; 0: affordable_rows()
  double headroom = 0;                     ///< of LayerNorms' outputs, see add_headroom()
};

struct QuantizeResult {
  QuantizedModel model;
  std::vector<LayerErrors> layers;  ///< of the first stack, then of the second
  std::vector<Dense16Error> heads;
  std::vector<std::vector<InputRange>> ranges;  ///< [layers] as `layers`, in float32
  std::vector<std::string> warnings;
};

/// The result depends on the texts, not on the number of threads.
QuantizeResult quantize_model(const QuantizeSource& source, const QuantizeOptions& options,
                              Workers& workers, const Progress& progress);

}  // namespace embert::convert
