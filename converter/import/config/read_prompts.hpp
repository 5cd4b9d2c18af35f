// SPDX-License-Identifier: Apache-2.0
// Reads the prompts of a sentence-transformers folder: config_sentence_transformers.json, which is
// optional.
#pragma once

#include <filesystem>

#include "converter/model/prompt_config.hpp"

namespace embert::convert {

/// Throws ConvertError.
PromptConfig read_prompts(const std::filesystem::path& folder);

}  // namespace embert::convert
