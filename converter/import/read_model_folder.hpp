// SPDX-License-Identifier: Apache-2.0
// A Hugging Face model folder but for its tokenizer: everything that the converter reads, read and
// checked in one call.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "converter/model/model_config.hpp"
#include "converter/model/model_weights.hpp"
#include "converter/model/pooling_config.hpp"

namespace embert::convert {

struct ModelFolder {
  /// Where config.json and the weights were found and where the tokenizer's files lie: the folder
  /// itself, or the Transformer module's folder that modules.json names.
  std::filesystem::path transformer_folder;
  ModelConfig config;
  ModelWeights weights;
  PoolingConfig pooling;
  std::vector<std::string> warnings;  ///< one line each; nothing is printed
};

/// Throws ConvertError: one line that names the file within the folder, tensor or field.
ModelFolder read_model_folder(const std::filesystem::path& folder);

}  // namespace embert::convert
