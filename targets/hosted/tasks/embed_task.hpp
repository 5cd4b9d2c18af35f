// SPDX-License-Identifier: Apache-2.0
// embed as lines: one vector for each text, as numbers.
#pragma once

#include "targets/hosted/tasks/common/text_task.hpp"
#include "targets/hosted/vectors/text_vectors.hpp"

namespace embert::hosted {

TextTask prepare_embed(HostedModel& model, const VectorOptions& options);

}  // namespace embert::hosted
