// SPDX-License-Identifier: Apache-2.0
// fill-mask: the most probable tokens for each mask of a text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "targets/hosted/tasks/common/text_task.hpp"

namespace embert::hosted {

struct FillMaskOptions {
  uint32_t top = 5;
  std::vector<std::string> targets;  ///< only these words, each a token; empty: all tokens
};

TextTask prepare_fill_mask(HostedModel& model, const FillMaskOptions& options);

}  // namespace embert::hosted
