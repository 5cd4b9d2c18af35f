// SPDX-License-Identifier: Apache-2.0
// tokenize: the tokens that the model would read.
#pragma once

#include "targets/hosted/tasks/common/text_task.hpp"

namespace embert::hosted {

TextTask prepare_tokenize(HostedModel& model);

}  // namespace embert::hosted
