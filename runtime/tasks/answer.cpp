// SPDX-License-Identifier: Apache-2.0
// Question answering: the best spans of a context that comes in overlapping windows.
#include <string.h>

#include "runtime/model/struct_size.hpp"
#include "runtime/tasks/log_sum.hpp"
#include "runtime/tasks/ranking.hpp"

namespace embert {
namespace {

constexpr int32_t kContext = 1;

enum Side : size_t { kStart = 0, kEnd = 1 };

/// What a list keeps beside its answers, in embert_answers.opaque.
struct AnswersState {
  size_t max_answer_tokens;
  bool align_to_words, allow_no_answer;
  LogitRatio ratio;
  embert_log2_q26 no_answer;  ///< the lowest that a window gives
  uint32_t windows;           ///< so far
};
static_assert(sizeof(AnswersState) <= sizeof(embert_answers::opaque));

AnswersState read_state(const embert_answers& list) {
  AnswersState state;
  memcpy(&state, list.opaque, sizeof(state));
  return state;
}
void write_state(const AnswersState& state, embert_answers* list) {
  memcpy(list->opaque, &state, sizeof(state));
}

int32_t logit(const embert_answer_window& window, size_t token, Side side) {
  return window.logits[2 * token + side];
}

/// The softmax's denominator over [CLS], which stands for "no answer", and the context.
embert_log_sum log_sum(const embert_answer_window& window, Side side, LogitRatio ratio) {
  LogSum sum = begin_log_sum(ratio);
  for (size_t i = 0; i < window.tokens; ++i) {
    if (i == 0 || window.sequence_ids[i] == kContext) raise_log_sum(&sum, logit(window, i, side));
  }
  for (size_t i = 0; i < window.tokens; ++i) {
    if (i == 0 || window.sequence_ids[i] == kContext) add_to_log_sum(&sum, logit(window, i, side));
  }
  return finish_log_sum(sum);
}

bool same_word(const embert_answer_window& window, size_t a, size_t b) {
  return window.sequence_ids[a] == kContext && window.sequence_ids[b] == kContext &&
         window.word_ids[a] == window.word_ids[b];
}

embert_answer make_answer(const embert_answer_window& window, size_t start, size_t end,
                          embert_log2_q26 log2_score, bool align_to_words) {
  embert_answer answer = {};
  answer.log2_score = log2_score;
  answer.score = embert_q30_of_log2(log2_score);
  answer.window = window.window;
  answer.first_token = static_cast<uint32_t>(start);
  answer.last_token = static_cast<uint32_t>(end);
  if (align_to_words) {
    // Ends at the first token at the latest: it does not belong to the context.
    while (same_word(window, start, start - 1)) --start;
    while (end + 1 < window.tokens && same_word(window, end, end + 1)) ++end;
  }
  answer.byte_begin = window.byte_offsets[2 * start];
  answer.byte_end = window.byte_offsets[2 * end + 1];
  answer.char_begin = window.char_offsets[2 * start];
  answer.char_end = window.char_offsets[2 * end + 1];
  return answer;
}

/// Whether an answer with this score would enter the list. Most do not.
bool has_place(const embert_answers& list, embert_log2_q26 log2_score) {
  return list.count < list.capacity || log2_score > list.answers[list.count - 1].log2_score;
}

/// Makes room for an answer: whatever is worse at its place goes. False if the list has one there
/// that is at least as good.
bool replaces(embert_answers* list, const embert_answer& answer) {
  for (size_t i = 0; i < list->count; ++i) {
    const embert_answer& known = list->answers[i];
    if (known.byte_begin != answer.byte_begin || known.byte_end != answer.byte_end) continue;
    if (known.log2_score >= answer.log2_score) return false;
    --list->count;
    for (size_t at = i; at < list->count; ++at) list->answers[at] = list->answers[at + 1];
    break;
  }
  return true;
}

void take_in(embert_answers* list, const embert_answer& answer) {
  insert_ranked(
      list->answers, list->capacity, &list->count, answer,
      [](const embert_answer& a, const embert_answer& b) { return a.log2_score > b.log2_score; });
}

embert_status check(const embert_answer_window& window) {
  if (window.logits == nullptr || window.sequence_ids == nullptr || window.word_ids == nullptr ||
      window.byte_offsets == nullptr || window.char_offsets == nullptr) {
    return EMBERT_STATUS_NULL_ARGUMENT;
  }
  if (window.tokens == 0) return EMBERT_STATUS_EMPTY_INPUT;
  if (window.tokens > kMaxSoftmaxLogits || window.sequence_ids[0] >= 0)
    return EMBERT_STATUS_INVALID_OPTION;
  for (size_t i = 0; i < window.tokens; ++i) {
    if (window.sequence_ids[i] == kContext) return EMBERT_STATUS_OK;
  }
  return EMBERT_STATUS_EMPTY_INPUT;
}

/// Ranks the spans of a checked window.
void add_window(const embert_answer_window& window, embert_answers* list) {
  AnswersState state = read_state(*list);
  const LogitRatio ratio = state.ratio;
  const embert_log_sum starts = log_sum(window, kStart, ratio), ends = log_sum(window, kEnd, ratio);

  const embert_log2_q26 no_answer =
      -static_cast<embert_log2_q26>(softmax_octaves(starts, logit(window, 0, kStart), ratio) +
                                    softmax_octaves(ends, logit(window, 0, kEnd), ratio));
  state.no_answer = no_answer < state.no_answer ? no_answer : state.no_answer;
  ++state.windows;
  write_state(state, list);

  for (size_t start = 1; start < window.tokens; ++start) {
    if (window.sequence_ids[start] != kContext) continue;
    const uint64_t start_octaves = softmax_octaves(starts, logit(window, start, kStart), ratio);
    const size_t left = window.tokens - start;
    const size_t length = left < state.max_answer_tokens ? left : state.max_answer_tokens;
    for (size_t end = start; end < start + length; ++end) {
      if (window.sequence_ids[end] != kContext) continue;
      const embert_log2_q26 log2_score = -static_cast<embert_log2_q26>(
          start_octaves + softmax_octaves(ends, logit(window, end, kEnd), ratio));
      if (!has_place(*list, log2_score)) continue;
      const embert_answer answer =
          make_answer(window, start, end, log2_score, state.align_to_words);
      if (replaces(list, answer)) take_in(list, answer);
    }
  }
}

}  // namespace
}  // namespace embert

embert_status embert_answer_options_init(embert_answer_options* options) {
  if (options == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  return embert::init_struct(
      {.size = 0, .max_answer_tokens = 15, .align_to_words = 1, .allow_no_answer = 0}, options);
}

embert_status embert_answers_begin(embert_answers* list, const embert_answer_options* options,
                                   embert_scale scale, embert_answer* answers, size_t capacity) {
  using namespace embert;
  if (list == nullptr || answers == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  embert_answer_options chosen = embert_answer_options_default();
  if (options != nullptr) {
    const embert_status status = read_struct(*options, &chosen);
    if (status != EMBERT_STATUS_OK) return status;
  }
  LogitRatio ratio;
  if (capacity == 0 || chosen.max_answer_tokens == 0 || chosen.align_to_words > 1 ||
      chosen.allow_no_answer > 1 || !make_logit_ratio(scale, &ratio)) {
    return EMBERT_STATUS_INVALID_OPTION;
  }
  *list = {.answers = answers, .capacity = capacity, .count = 0, .opaque = {}};
  write_state({.max_answer_tokens = chosen.max_answer_tokens,
               .align_to_words = chosen.align_to_words != 0,
               .allow_no_answer = chosen.allow_no_answer != 0,
               .ratio = ratio,
               .no_answer = 0,
               .windows = 0},
              list);
  return EMBERT_STATUS_OK;
}

embert_status embert_answers_add(embert_answers* list, const embert_answer_window* window) {
  using namespace embert;
  if (list == nullptr || window == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  embert_answer_window whole;
  embert_status status = read_struct(*window, &whole);
  if (status == EMBERT_STATUS_OK) status = check(whole);
  if (status == EMBERT_STATUS_OK) add_window(whole, list);
  return status;
}

embert_status embert_answers_finish(embert_answers* list) {
  using namespace embert;
  if (list == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  const AnswersState state = read_state(*list);
  if (state.windows == 0) return EMBERT_STATUS_EMPTY_INPUT;
  if (!state.allow_no_answer) return EMBERT_STATUS_OK;
  embert_answer none = {};
  none.log2_score = state.no_answer;
  none.score = embert_q30_of_log2(state.no_answer);
  none.is_no_answer = 1;
  take_in(list, none);
  return EMBERT_STATUS_OK;
}
