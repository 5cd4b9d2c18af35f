// SPDX-License-Identifier: Apache-2.0
// The tensors of one stack: embeddings, layers and the last LayerNorm.
#pragma once

#include <string>

#include "converter/import/weights/pick_tensors.hpp"

namespace embert::convert {

/// `prefix` stands before every name: "", "bert.", "decoder.bert." .... embedding_scale is not
/// applied yet.
StackWeights read_stack_weights(TensorPicker& tensors, const std::string& prefix,
                                const BertConfig& config);

}  // namespace embert::convert
