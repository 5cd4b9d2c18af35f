// SPDX-License-Identifier: Apache-2.0
// What a model can be asked for: which subcommands its structure and heads allow.
#pragma once

#include <string>
#include <vector>

#include "targets/cli/io/model_file.hpp"

namespace embert::cli {

enum class Task { kEmbed, kClassify, kNextSentence, kChoose, kTag, kAnswer, kFillMask, kGenerate };

/// Throws UsageError, which says what the model lacks and what it can do.
void require_task(const ModelFile& file, Task task);

/// The subcommands that run the model, such as "embed", "similarity", "classify".
std::vector<std::string> task_names(const embert_model_info& info);

}  // namespace embert::cli
