// SPDX-License-Identifier: Apache-2.0
// The tasks by the names of the tool's subcommands.
#pragma once

#include <string>

#include "targets/hosted/tasks/common/text_task.hpp"

namespace embert::hosted {

/// options: a JSON object with the long options of the tool's subcommand; null: none. Throws
/// UsageError for an unknown task, option or value, or a model that cannot do the task.
TextTask task_by_name(HostedModel& model, const std::string& name, const char* options);

}  // namespace embert::hosted
