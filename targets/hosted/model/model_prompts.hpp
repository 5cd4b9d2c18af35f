// SPDX-License-Identifier: Apache-2.0
// The prompts that a model carries, by name.
#pragma once

#include <optional>
#include <string>

#include "targets/hosted/model/model_file.hpp"

namespace embert::hosted {

/// The text of the prompt with this name; without a name that of the model's default prompt, or ""
/// where it has none. Throws UsageError for an unknown name; the message lists the known ones.
std::string prompt_text(const ModelFile& file, const std::optional<std::string>& name);

}  // namespace embert::hosted
