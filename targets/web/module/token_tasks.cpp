// SPDX-License-Identifier: Apache-2.0
// Entities and answers. A text may be longer than the model's longest: count_tokens() says how many
// tokens it has, split() makes overlapping windows of them, and tag() or answer() read these. Each
// of the three gets memory of the size that the *_room function before it says.
#include <string.h>

#include "embert/embert_lm.h"
#include "embert/embert_tasks.h"
#include "embert/embert_tokenizer.h"
#include "targets/web/module/web_model.hpp"

namespace embert::web {
namespace {

constexpr size_t kLargestOverlap = 128;  // the default of `embert tag` and `embert answer`

// The text at hand. The tokens begin..end are shared out among windows, room a window; those before
// and behind, special tokens and the first text of a pair, are in each.
struct Windows {
  embert_text text;
  Tokens all;
  size_t begin, end, room, overlap, count;
} windows;

// Results of the last call.
embert_entity* entities;
embert_answer* answers;
size_t result_count;

embert_tokenize_options whole_text() {
  embert_tokenize_options options = embert_tokenize_options_default(&web.model);
  options.max_tokens = 0;
  options.truncation = EMBERT_TRUNCATION_NONE;
  return options;
}

embert_status has_token_task(uint32_t task) {
  const bool has = web.info.cross_hidden_size == 0 && web.info.num_token_labels > 0 &&
                   web.info.token_task == task;
  return has ? EMBERT_STATUS_OK : EMBERT_STATUS_NO_TOKEN_CLASSIFIER;
}

void append(Tokens& window, size_t begin, size_t end) {
  const Tokens& all = windows.all;
  const size_t at = window.length, n = end - begin;
  memcpy(window.ids + at, all.ids + begin, n * sizeof(int32_t));
  memcpy(window.type_ids + at, all.type_ids + begin, n * sizeof(int32_t));
  memcpy(window.word_ids + at, all.word_ids + begin, n * sizeof(int32_t));
  memcpy(window.sequence_ids + at, all.sequence_ids + begin, n * sizeof(int32_t));
  memcpy(window.byte_offsets + 2 * at, all.byte_offsets + 2 * begin, 2 * n * sizeof(uint32_t));
  memcpy(window.char_offsets + 2 * at, all.char_offsets + 2 * begin, 2 * n * sizeof(uint32_t));
  window.length += static_cast<uint32_t>(n);
}

// Makes window i, and runs the model on it: logits [length][num_token_labels].
embert_status run_window(size_t i, Tokens& window, int32_t* logits, embert_scale* scale) {
  const size_t at = windows.begin + i * (windows.room - windows.overlap);
  const size_t left = windows.end - at;
  window.length = 0;
  append(window, 0, windows.begin);
  append(window, at, at + (left < windows.room ? left : windows.room));
  append(window, windows.end, windows.all.length);
  if (window.length == 0) return EMBERT_STATUS_OK;
  const embert_input input = {.size = sizeof(input),
                              .ids = window.ids,
                              .lengths = &window.length,
                              .batch = 1,
                              .type_ids = window.type_ids};
  if (web.info.is_decoder != 0) {
    const embert_status cleared = embert_cache_clear(web.engine);
    if (cleared != EMBERT_STATUS_OK) return cleared;
  }
  embert_output output = {.size = sizeof(output)};
  output.token_logits = logits;
  const embert_status status = embert_run(web.engine, &input, &output);
  *scale = output.token_logits_scale;
  return status;
}

// The memory of tag() and answer().
struct Memory {
  Tokens window;
  int32_t* logits;      // [max_tokens][num_token_labels]; tag() makes scores of them in place
  const char** labels;  // [num_token_labels]
  embert_entity* entities;
  embert_answer* answers;
  size_t entity_capacity;
};
Memory plan(Cursor& cursor, size_t top) {
  Memory memory = {};
  memory.window = cursor.take_tokens(web.max_tokens);
  memory.logits = cursor.take<int32_t>(uint64_t{web.max_tokens} * web.info.num_token_labels);
  memory.labels = cursor.take<const char*>(web.info.num_token_labels);
  const uint64_t entities = top == 0 ? uint64_t{windows.count} * web.max_tokens : 0;
  memory.entities = cursor.take<embert_entity>(entities);
  memory.entity_capacity = static_cast<size_t>(entities);
  memory.answers = cursor.take<embert_answer>(top);
  return memory;
}

}  // namespace

EMBERT_EXPORT(count_tokens)
uint32_t count_tokens(const char* text, size_t bytes, const char* pair, size_t pair_bytes) {
  windows = {};
  windows.text = text_of(text, bytes, pair, pair_bytes);
  const embert_tokenize_options options = whole_text();
  embert_tokens tokens = {.size = sizeof(tokens)};
  const embert_status status = embert_tokenize(&web.model, &windows.text, &options, &tokens);
  windows.all.length = static_cast<uint32_t>(tokens.length);
  return status == EMBERT_STATUS_BUFFER_TOO_SMALL ? EMBERT_STATUS_OK : status;
}

EMBERT_EXPORT(split_room) size_t split_room() {
  Cursor cursor = {nullptr, 0};
  cursor.take_tokens(windows.all.length);
  return cursor.room();
}

/// `memory` has split_room() bytes and is 64-byte aligned. TRUNCATION: no window has room for the
/// text.
EMBERT_EXPORT(split) uint32_t split(uint8_t* memory) {
  const size_t length = windows.all.length, most = web.max_tokens;
  Cursor cursor = {memory, 0};
  Tokens& all = windows.all = cursor.take_tokens(length);
  const embert_tokenize_options options = whole_text();
  embert_tokens tokens = {.size = sizeof(tokens)};
  tokens.capacity = length;
  tokens.ids = all.ids;
  tokens.type_ids = all.type_ids;
  tokens.word_ids = all.word_ids;
  tokens.sequence_ids = all.sequence_ids;
  tokens.byte_offsets = all.byte_offsets;
  tokens.char_offsets = all.char_offsets;
  const embert_status status = embert_tokenize(&web.model, &windows.text, &options, &tokens);
  if (status != EMBERT_STATUS_OK) return status;
  all.length = static_cast<uint32_t>(length);

  const int32_t sequence = windows.text.pair == nullptr ? 0 : 1;
  windows.begin = 0;
  while (windows.begin < length && all.sequence_ids[windows.begin] != sequence) ++windows.begin;
  windows.end = length;
  while (windows.end > windows.begin && all.sequence_ids[windows.end - 1] != sequence) {
    --windows.end;
  }
  const size_t shared = windows.end - windows.begin, fixed = length - shared;
  windows.room = shared;
  windows.overlap = 0;
  windows.count = 1;
  if (length <= most) return EMBERT_STATUS_OK;
  if (fixed >= most) return EMBERT_STATUS_TRUNCATION;
  windows.room = most - fixed;
  windows.overlap = most / 2 < kLargestOverlap ? most / 2 : kLargestOverlap;
  if (windows.overlap >= windows.room) windows.overlap = windows.room / 2;
  const size_t step = windows.room - windows.overlap;
  windows.count += (shared - windows.room + step - 1) / step;
  return EMBERT_STATUS_OK;
}

EMBERT_EXPORT(tag_room) size_t tag_room() {
  Cursor cursor = {nullptr, 0};
  plan(cursor, 0);
  return cursor.room();
}

/// Entities of the windows, with byte_offsets in the text; no entity is labelled "O". `memory` has
/// tag_room() bytes and is 64-byte aligned.
EMBERT_EXPORT(tag) uint32_t tag(uint8_t* memory, uint32_t aggregation) {
  embert_status status = has_token_task(EMBERT_TOKENS_LABELS);
  if (status != EMBERT_STATUS_OK) return status;
  Cursor cursor = {memory, 0};
  Memory m = plan(cursor, 0);
  for (uint32_t i = 0; i < web.info.num_token_labels; ++i) {
    m.labels[i] = embert_model_token_label(&web.model, i);
  }
  const embert_tag_options options = {.size = sizeof(options),
                                      .labels = m.labels,
                                      .num_labels = web.info.num_token_labels,
                                      .aggregation = aggregation,
                                      .ignored = "O"};
  entities = m.entities;
  result_count = 0;
  for (size_t i = 0; i < windows.count; ++i) {
    embert_scale scale = {};
    status = run_window(i, m.window, m.logits, &scale);
    if (status != EMBERT_STATUS_OK) return status;
    if (m.window.length == 0) continue;
    embert_q30* scores = reinterpret_cast<embert_q30*>(m.logits);
    status =
        embert_softmax_q30(m.logits, m.window.length, web.info.num_token_labels, scale, scores);
    if (status != EMBERT_STATUS_OK) return status;
    embert_tag_window window = {.size = sizeof(window)};
    window.scores = scores;
    window.word_ids = m.window.word_ids;
    window.byte_offsets = m.window.byte_offsets;
    window.char_offsets = m.window.char_offsets;
    window.tokens = m.window.length;
    status = embert_find_entities(&options, &window, entities, m.entity_capacity, &result_count);
    if (status != EMBERT_STATUS_OK) return status;
  }
  if (windows.count == 1 || result_count == 0) return EMBERT_STATUS_OK;
  return embert_merge_entities(entities, &result_count);
}

EMBERT_EXPORT(answer_room) size_t answer_room(uint32_t top) {
  Cursor cursor = {nullptr, 0};
  plan(cursor, top);
  return cursor.room();
}

/// The top best answers to the first text of the pair in the second. `memory` has answer_room(top)
/// bytes and is 64-byte aligned. EMPTY_INPUT: a text has no token.
EMBERT_EXPORT(answer)
uint32_t answer(uint8_t* memory, uint32_t top, uint32_t max_answer_tokens, uint32_t no_answer) {
  embert_status status = has_token_task(EMBERT_TOKENS_ANSWER);
  if (status != EMBERT_STATUS_OK) return status;
  bool has_question = false;
  for (size_t i = 0; i < windows.all.length; ++i) {
    has_question = has_question || windows.all.sequence_ids[i] == 0;
  }
  if (!has_question || windows.begin == windows.end) return EMBERT_STATUS_EMPTY_INPUT;
  Cursor cursor = {memory, 0};
  Memory m = plan(cursor, top);
  embert_answer_options options = embert_answer_options_default();
  options.max_answer_tokens = max_answer_tokens;
  options.allow_no_answer = no_answer;
  embert_answers list = {};
  for (size_t i = 0; i < windows.count; ++i) {
    embert_scale scale = {};
    status = run_window(i, m.window, m.logits, &scale);
    if (status == EMBERT_STATUS_OK && i == 0) {
      status = embert_answers_begin(&list, &options, scale, m.answers, top);
    }
    if (status != EMBERT_STATUS_OK) return status;
    embert_answer_window window = {.size = sizeof(window)};
    window.logits = m.logits;
    window.sequence_ids = m.window.sequence_ids;
    window.word_ids = m.window.word_ids;
    window.byte_offsets = m.window.byte_offsets;
    window.char_offsets = m.window.char_offsets;
    window.tokens = m.window.length;
    status = embert_answers_add(&list, &window);
    if (status != EMBERT_STATUS_OK) return status;
  }
  status = embert_answers_finish(&list);
  answers = m.answers;
  result_count = list.count;
  return status;
}

EMBERT_EXPORT(entities) const embert_entity* found_entities() { return entities; }
EMBERT_EXPORT(answers) const embert_answer* found_answers() { return answers; }
EMBERT_EXPORT(result_count) size_t found_count() { return result_count; }
EMBERT_EXPORT(num_token_labels) uint32_t num_token_labels() { return web.info.num_token_labels; }
EMBERT_EXPORT(token_label_name) const char* token_label_name(uint32_t label) {
  return embert_model_token_label(&web.model, label);
}

}  // namespace embert::web
