// SPDX-License-Identifier: Apache-2.0
// Reads the tensors of one stack: embeddings, layers and the final LayerNorm.
#pragma once

#include <string>

#include "converter/import/families/tensor_names.hpp"
#include "converter/import/weights/tensor_picker.hpp"
#include "converter/model/model_config.hpp"

namespace embert::convert {

/// `prefix` stands before every name of `names`: "", "bert.", "decoder.bert." and so on.
/// embedding_scale is not applied yet. Throws ConvertError.
StackWeights read_stack_weights(TensorPicker& tensors, const StackNames& names,
                                const std::string& prefix, const StackConfig& config);

}  // namespace embert::convert
