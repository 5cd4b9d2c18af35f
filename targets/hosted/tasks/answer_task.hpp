// SPDX-License-Identifier: Apache-2.0
// answer: the parts of a context that best answer a question. Texts are pairs: question, context.
#pragma once

#include <cstddef>
#include <cstdint>

#include "embert/embert_tasks.h"
#include "targets/hosted/tasks/common/text_task.hpp"
#include "targets/hosted/tasks/common/text_windows.hpp"

namespace embert::hosted {

struct AnswerOptions {
  WindowOptions windows;
  uint32_t top = 1;
  size_t max_answer_tokens = embert_answer_options_default().max_answer_tokens;
  bool allow_no_answer = false;
};

TextTask prepare_answer(HostedModel& model, const AnswerOptions& options);

}  // namespace embert::hosted
