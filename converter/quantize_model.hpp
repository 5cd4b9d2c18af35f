// SPDX-License-Identifier: Apache-2.0
// Calibration and quantisation of a whole model: float32 weights in, integers out.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "converter/calibrate.hpp"
#include "converter/calibration_rows.hpp"
#include "converter/quantized_model.hpp"
#include "converter/round_weights.hpp"
#include "converter/workers.hpp"

namespace embert::convert {

/// Called now and then from the thread of the caller's call: what is being done, and how far the
/// whole is, 0 to 1.
using Progress = std::function<void(const std::string& step, double done)>;

struct QuantizeOptions {
  Rounding rounding = Rounding::kErrorCompensated;
  std::size_t max_rows = 0;  ///< calibration rows a GEMM; 0: affordable_rows()
};

/// Error of a layer's outputs from rounding its weights: root of the error's power over the
/// output's, on calibration rows.
struct LayerErrors {
  double qkv = 0, output = 0, ffn1 = 0, ffn2 = 0;
  std::size_t copies = 0;  ///< intermediate channels added for wide columns
};

struct QuantizeResult {
  QuantizedModel model;
  std::vector<LayerErrors> layers;
  double pooler_error = 0, classifier_error = 0;
  std::vector<std::string> warnings;
};

/// `model` is the float model of `config` and `weights`. The result depends on the texts but not on
/// the number of threads.
QuantizeResult quantize_model(const ModelConfig& config, const ModelWeights& weights,
                              FloatModel& model, const TokenBatch& texts,
                              const QuantizeOptions& options, Workers& workers,
                              const Progress& progress);

/// The embedding tables in units of `step`, see kernels/embedding.hpp.
void quantize_embeddings(const StackWeights& weights, double step, QuantizedStack& out);
/// The step of the embedding sum: room for twice what calibration saw, and for every row there is.
double embedding_step(const BertConfig& config, const StackWeights& weights, float largest_sum);

/// A head's dense layer on 16-bit rows: real input = input_step * value, real output = output_step
/// * result. `rows` are calibration inputs (real).
QuantizedHead quantize_head(const Linear& linear, const Matrix& rows, double input_step,
                            double output_step, Rounding rounding, const std::string& name,
                            double& relative_error, std::vector<std::string>& warnings);

}  // namespace embert::convert
