// SPDX-License-Identifier: Apache-2.0
// tag: the entities of each text, with scores and offsets.
#pragma once

#include <string>

#include "targets/hosted/tasks/common/text_task.hpp"
#include "targets/hosted/tasks/common/text_windows.hpp"

namespace embert::hosted {

struct TagOptions {
  WindowOptions windows;
  std::string aggregation = "simple";  ///< none, simple, first, average, max
};

TextTask prepare_tag(HostedModel& model, const TagOptions& options);

}  // namespace embert::hosted
