// SPDX-License-Identifier: Apache-2.0
// The subcommands that a model supports, by its structure and its task heads.
#pragma once

#include <string>
#include <vector>

#include "embert/embert_inspect.h"
#include "targets/hosted/model/model_file.hpp"

namespace embert::hosted {

enum class Task { kEmbed, kClassify, kNextSentence, kChoose, kTag, kAnswer, kFillMask, kGenerate };

/// Throws UsageError if the model cannot do the task; the message names the missing part and the
/// tasks that the model can do.
void require_task(const ModelFile& file, Task task);

/// Returns the names of the subcommands that can run the model, such as "embed" and "classify".
std::vector<std::string> task_names(const embert_model_info& info);

}  // namespace embert::hosted
