// SPDX-License-Identifier: Apache-2.0
// Reads and checks a Hugging Face model folder in one call: everything except its tokenizer.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "converter/model/model_config.hpp"
#include "converter/model/model_weights.hpp"
#include "converter/model/pooling_config.hpp"
#include "converter/model/prompt_config.hpp"

namespace embert::convert {

struct ModelFolder {
  /// The folder with config.json, the weights and the tokenizer's files: the model folder itself,
  /// or the Transformer module's folder that modules.json names.
  std::filesystem::path transformer_folder;
  ModelConfig config;
  ModelWeights weights;
  PoolingConfig pooling;
  PromptConfig prompts;
  std::vector<std::string> warnings;  ///< one line each
};

/// Throws ConvertError: one line that names the file within the folder, the tensor or the field.
ModelFolder read_model_folder(const std::filesystem::path& folder);

}  // namespace embert::convert
