// SPDX-License-Identifier: Apache-2.0
// Second pass over the calibration texts: rows of every GEMM's input as the runtime will see them,
// quantised. Rounding of weights and the correction of biases are made from these. One byte a
// value, and from longer calibration texts evenly spread rows only, so that memory stays small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "converter/calibrate/model_batch.hpp"
#include "converter/quantize/layer/smoothing.hpp"

namespace embert::convert {

/// Rows a GEMM for which the codes of all layers take 256 MiB at most, but never fewer than 2,048:
/// a BERT-large then takes 336 MiB. All of the built-in text for MiniLM.
std::size_t affordable_rows(const ModelConfig& config);

/// Quantised value [r][c] = (codes[r][c] + code_offset) * row_step[r], in the folded domain.
struct QuantizedRows {
  std::size_t rows = 0, cols = 0;
  int code_offset = 0;
  std::vector<std::int8_t> codes;   ///< [rows, cols]
  std::vector<float> row_step;      ///< [rows]
  std::vector<double> real_mean;    ///< [cols] mean of the float values, not folded
  std::vector<double> folded_mean;  ///< [cols] mean of the quantised values
};

/// How a layer's inputs are quantised. Those of cross-attention are empty without it.
struct LayerSteps {
  InputDomain input, context;
  InputDomain cross_input, cross_context;
  InputDomain cross_states;  ///< of joined sums: 16-bit rows lose their last places when joined
  InputDomain ffn_input;
  int activation_exponent = 10;  ///< output of the activation in units of 2^-exponent
  std::int32_t activation_offset_q14 = 0;
};

struct LayerRows {
  QuantizedRows input, context, cross_input, cross_context, ffn_input, activated;
};

/// Rows of every layer of every stack, from their steps. `max_rows` >= 1 rows a GEMM at most.
std::vector<std::vector<LayerRows>> collect_rows(FloatModel& model,
                                                 const std::vector<std::vector<LayerSteps>>& steps,
                                                 const ModelBatch& batch, std::size_t max_rows);

}  // namespace embert::convert
