// SPDX-License-Identifier: Apache-2.0
// Reads the weights of a model and its task heads, checked against the config. Files name and shape
// tensors as transformers does.
#pragma once

#include <string>
#include <vector>

#include "converter/model/model_weights.hpp"

namespace embert::convert {

struct ModelConfig;
class WeightFiles;

/// Picks the tensors that `config` needs out of `files`: names with or without "bert.", LayerNorm
/// as weight/bias or gamma/beta. Appends a line on tensors left over to `warnings`. Throws
/// ConvertError for a tensor that is missing, has another shape or type, or holds a value that is
/// not finite.
ModelWeights read_weights(const WeightFiles& files, const ModelConfig& config,
                          std::vector<std::string>& warnings);

}  // namespace embert::convert
