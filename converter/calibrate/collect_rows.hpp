// SPDX-License-Identifier: Apache-2.0
// Second pass over the calibration texts: rows of every GEMM's input as the runtime will see them,
// quantised. Rounding of weights and the correction of biases are made from these. One byte a
// value, and from longer calibration texts evenly spread rows only, so that memory stays small.
#pragma once

#include <cstddef>
#include <vector>

#include "converter/model/channel_quant.hpp"
#include "converter/model/model_config.hpp"
#include "converter/model/quantized_rows.hpp"
#include "converter/model/token_batch.hpp"
#include "converter/reference/float_model.hpp"

namespace embert::convert {

/// Rows a GEMM for which the codes of all layers take 256 MiB at most, but never fewer than 2,048:
/// a BERT-large then takes 336 MiB. All of the built-in text for MiniLM.
std::size_t affordable_rows(const ModelConfig& config);

/// Rows of every layer of every stack, from their steps. `max_rows` >= 1 rows a GEMM at most.
std::vector<std::vector<LayerRows>> collect_rows(FloatModel& model,
                                                 const std::vector<std::vector<LayerScales>>& steps,
                                                 const ModelBatch& batch, std::size_t max_rows);

}  // namespace embert::convert
