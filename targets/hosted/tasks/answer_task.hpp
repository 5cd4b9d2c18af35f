// SPDX-License-Identifier: Apache-2.0
// answer: the parts of a context that best answer a question. Texts are pairs: question, context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "embert/embert_tasks.h"
#include "targets/hosted/tasks/common/text_task.hpp"
#include "targets/hosted/tasks/common/text_windows.hpp"
#include "targets/hosted/tasks/common/token_logits.hpp"

namespace embert::hosted {

struct AnswerOptions {
  WindowOptions windows;
  uint32_t top = 1;
  size_t max_answer_tokens = embert_answer_options_default().max_answer_tokens;
  bool allow_no_answer = false;
};

/// The best answers, best first, from the logits of a text's windows, which share a scale: both
/// [windows], at least one.
std::vector<embert_answer> best_answers(const AnswerOptions& options,
                                        std::span<const TextTokens> windows,
                                        std::span<const TokenLogits> logits);

/// The part of the context, empty for none.
std::string_view answer_text(const embert_answer& answer, std::string_view context);

/// Throws TextError, with index 0, if the question or the context has no token.
void check_not_empty(const TextTokens& window);

TextTask prepare_answer(HostedModel& model, const AnswerOptions& options);

}  // namespace embert::hosted
