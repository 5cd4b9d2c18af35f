// SPDX-License-Identifier: Apache-2.0
// Second calibration pass: rows of every GEMM's input as the runtime will see them, quantised. GPTQ
// rounds weights for these rows, and the correction of biases uses their means. Of long calibration
// texts only evenly spread rows are kept, so that memory stays small.
#pragma once

#include <cstddef>
#include <vector>

#include "converter/model/channel_quant.hpp"
#include "converter/model/quantized_rows.hpp"

namespace embert::convert {

class FloatModel;
struct ModelBatch;
struct ModelConfig;

/// Rows per GEMM for which the codes of all layers take at most 256 MiB, but never fewer than 2,048
/// (with which a BERT-large takes 336 MiB). For MiniLM these are all rows of the built-in text.
std::size_t affordable_rows(const ModelConfig& config);

/// Rows for the weights of every layer of every stack. `scales` are theirs; at most `max_rows` >= 1
/// rows per GEMM of a layer. Weights that layers share have the rows of all of them.
std::vector<std::vector<LayerRows>> collect_rows(
    FloatModel& model, const ModelConfig& config,
    const std::vector<std::vector<LayerScales>>& scales, const ModelBatch& batch,
    std::size_t max_rows);

}  // namespace embert::convert
