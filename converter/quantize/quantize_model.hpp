// SPDX-License-Identifier: Apache-2.0
// Calibration and quantisation of a whole model: float32 weights in, integers out.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "converter/model/quantized_model.hpp"
#include "converter/model/token_batch.hpp"
#include "converter/quantize/quantize_heads.hpp"
#include "converter/quantize/quantize_stack.hpp"
#include "converter/quantize/rounding/gptq.hpp"
#include "converter/reference/float_model.hpp"
#include "converter/workers.hpp"

namespace embert::convert {

/// Called now and then from the thread of the caller's call: what is being done, and how far the
/// whole is, 0 to 1.
using Progress = std::function<void(const std::string& step, double done)>;

struct QuantizeOptions {
  Rounding rounding = Rounding::kErrorCompensated;
  std::size_t max_rows = 0;  ///< calibration rows a GEMM; 0: affordable_rows()
  double headroom = 0;       ///< of LayerNorms' outputs, see add_headroom()
};

struct QuantizeResult {
  QuantizedModel model;
  std::vector<LayerErrors> layers;  ///< of the first stack, then of the second
  std::vector<HeadError> heads;
  std::vector<std::string> warnings;
};

/// `model` is the float model of `config` and `weights`. The result depends on the texts but not on
/// the number of threads.
QuantizeResult quantize_model(const ModelConfig& config, const ModelWeights& weights,
                              FloatModel& model, const ModelBatch& batch,
                              const QuantizeOptions& options, Workers& workers,
                              const Progress& progress);

}  // namespace embert::convert
