// SPDX-License-Identifier: Apache-2.0
// classify: the labels of each text, or of each pair of texts, with their scores.
#pragma once

#include <cstdint>
#include <string>

#include "targets/hosted/tasks/common/text_task.hpp"

namespace embert::hosted {

struct ClassifyOptions {
  std::string function;  ///< softmax, sigmoid or none; empty: the model's own
  uint32_t top = 0;      ///< labels to show; 0: the best one in plain lines, all in JSON
};

TextTask prepare_classify(HostedModel& model, const ClassifyOptions& options);

}  // namespace embert::hosted
