// SPDX-License-Identifier: Apache-2.0
// Token classification: turns the labels of tokens into entities of the text.
#include "runtime/model/struct_size.hpp"
#include "runtime/tasks/log_sum.hpp"
#include "runtime/tasks/ranking.hpp"

namespace embert {
namespace {

/// A token, or a word of several tokens. Entities are groups of units.
struct Unit {
  size_t first, last;  ///< tokens
  uint32_t label;
  embert_q30 score;
};

bool same_text(const char* a, const char* b) {
  while (*a != 0 && *a == *b) {
    ++a;
    ++b;
  }
  return *a == *b;
}

/// B-x begins an entity of kind x. I-x continues one, and so does a name without prefix.
bool begins_entity(const char* label) { return label[0] == 'B' && label[1] == '-'; }
const char* kind_of(const char* label) {
  return begins_entity(label) || (label[0] == 'I' && label[1] == '-') ? label + 2 : label;
}

embert_q30 mean(uint64_t sum, size_t count) {
  return static_cast<embert_q30>((sum + count / 2) / count);
}

uint32_t best_label(const embert_q30* scores, size_t num_labels) {
  uint32_t best = 0;
  for (uint32_t label = 1; label < num_labels; ++label) {
    if (scores[label] > scores[best]) best = label;
  }
  return best;
}

bool is_special(const embert_tag_window& window, size_t token) {
  return window.word_ids[token] < 0;
}

/// Whether a token continues the word of the token before it. Not for the window's first token.
bool goes_on(const embert_tag_window& window, size_t token) {
  if (window.is_subword != nullptr) return window.is_subword[token] != 0;
  return window.word_ids[token] == window.word_ids[token - 1];
}

/// Sets the word's label and score from its tokens' scores, without the special tokens among them.
void label_unit(const embert_tag_options& options, const embert_tag_window& window, Unit* unit) {
  const size_t n = options.num_labels;
  const embert_q30* scores = window.scores + unit->first * n;
  unit->label = best_label(scores, n);
  unit->score = scores[unit->label];
  if (options.aggregation == EMBERT_AGGREGATION_MAX) {
    for (size_t token = unit->first + 1; token <= unit->last; ++token) {
      if (is_special(window, token)) continue;
      scores = window.scores + token * n;
      const uint32_t label = best_label(scores, n);
      if (scores[label] > unit->score) {
        unit->label = label;
        unit->score = scores[label];
      }
    }
  }
  if (options.aggregation == EMBERT_AGGREGATION_AVERAGE && unit->last > unit->first) {
    uint64_t highest = 0;
    size_t tokens = 0;
    for (uint32_t label = 0; label < n; ++label) {
      uint64_t sum = 0;
      tokens = 0;
      for (size_t token = unit->first; token <= unit->last; ++token) {
        if (is_special(window, token)) continue;
        sum += window.scores[token * n + label];
        ++tokens;
      }
      if (label == 0 || sum > highest) {
        highest = sum;
        unit->label = label;
      }
    }
    unit->score = mean(highest, tokens);
  }
}

/// Finds the next unit from `token` on. False: there is none.
bool next_unit(const embert_tag_options& options, const embert_tag_window& window, size_t token,
               Unit* unit) {
  while (token < window.tokens && is_special(window, token)) ++token;
  if (token >= window.tokens) return false;
  unit->first = unit->last = token;
  if (options.aggregation >= EMBERT_AGGREGATION_FIRST) {
    for (++token; token < window.tokens; ++token) {
      if (is_special(window, token)) continue;
      if (!goes_on(window, token)) break;
      unit->last = token;
    }
  }
  label_unit(options, window, unit);
  return true;
}

embert_entity make_entity(const embert_tag_window& window, const Unit& first, const Unit& last,
                          embert_q30 score) {
  embert_entity entity = {};
  entity.label = first.label;
  entity.score = score;
  entity.window = window.window;
  entity.first_token = static_cast<uint32_t>(first.first);
  entity.last_token = static_cast<uint32_t>(last.last);
  entity.first_word = window.word_ids[first.first];
  entity.last_word = window.word_ids[last.last];
  entity.byte_begin = window.byte_offsets[2 * first.first];
  entity.byte_end = window.byte_offsets[2 * last.last + 1];
  entity.char_begin = window.char_offsets[2 * first.first];
  entity.char_end = window.char_offsets[2 * last.last + 1];
  return entity;
}

embert_status check(const embert_tag_options& options, const embert_tag_window& window) {
  if (options.labels == nullptr || window.scores == nullptr || window.word_ids == nullptr ||
      window.byte_offsets == nullptr || window.char_offsets == nullptr) {
    return EMBERT_STATUS_NULL_ARGUMENT;
  }
  if (options.num_labels == 0 || options.num_labels > kMaxSoftmaxLogits ||
      window.tokens > kMaxSoftmaxLogits ||
      static_cast<uint32_t>(options.aggregation) > EMBERT_AGGREGATION_MAX) {
    return EMBERT_STATUS_INVALID_OPTION;
  }
  for (size_t i = 0; i < options.num_labels; ++i) {
    if (options.labels[i] == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  }
  return window.tokens == 0 ? EMBERT_STATUS_EMPTY_INPUT : EMBERT_STATUS_OK;
}

/// Whether `entity` replaces `other`, which it overlaps.
bool is_better(const embert_entity& entity, const embert_entity& other) {
  const uint32_t length = entity.char_end - entity.char_begin;
  const uint32_t other_length = other.char_end - other.char_begin;
  return length > other_length || (length == other_length && entity.score > other.score);
}

/// embert_find_entities with checked arguments.
embert_status find_entities(const embert_tag_options& options, const embert_tag_window& window,
                            embert_entity* entities, size_t capacity, size_t* count) {
  const bool grouped = options.aggregation != EMBERT_AGGREGATION_NONE;

  Unit unit = {};
  bool more = next_unit(options, window, 0, &unit);
  while (more) {
    const Unit first = unit;
    Unit last = unit;
    uint64_t score_sum = 0;
    size_t units = 0;
    bool same_entity = true;
    while (same_entity) {
      last = unit;
      score_sum += unit.score;
      ++units;
      more = next_unit(options, window, unit.last + 1, &unit);
      same_entity =
          more && grouped && !begins_entity(options.labels[unit.label]) &&
          same_text(kind_of(options.labels[unit.label]), kind_of(options.labels[last.label]));
    }
    const char* label = options.labels[first.label];
    const char* name = grouped ? embert_label_group(label) : label;
    if (options.ignored != nullptr && same_text(name, options.ignored)) continue;
    if (*count < capacity)
      entities[*count] = make_entity(window, first, last, mean(score_sum, units));
    ++*count;
  }
  return *count <= capacity ? EMBERT_STATUS_OK : EMBERT_STATUS_BUFFER_TOO_SMALL;
}

}  // namespace
}  // namespace embert

const char* embert_label_group(const char* label) {
  if (label == nullptr) return nullptr;
  for (const char* c = label; *c != 0; ++c) {
    if (*c == '-') return c + 1;
  }
  return label;
}

embert_status embert_find_entities(const embert_tag_options* options,
                                   const embert_tag_window* window, embert_entity* entities,
                                   size_t capacity, size_t* count) {
  using namespace embert;
  if (options == nullptr || window == nullptr || entities == nullptr || count == nullptr) {
    return EMBERT_STATUS_NULL_ARGUMENT;
  }
  embert_tag_options chosen;
  embert_tag_window whole;
  embert_status status = read_struct(*options, &chosen);
  if (status == EMBERT_STATUS_OK) status = read_struct(*window, &whole);
  if (status == EMBERT_STATUS_OK) status = check(chosen, whole);
  return status == EMBERT_STATUS_OK ? find_entities(chosen, whole, entities, capacity, count)
                                    : status;
}

embert_status embert_merge_entities(embert_entity* entities, size_t* count) {
  using namespace embert;
  if (entities == nullptr || count == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  size_t sorted = 0;
  for (size_t i = 0; i < *count; ++i) {
    const embert_entity entity = entities[i];
    insert_ranked(
        entities, *count, &sorted, entity,
        [](const embert_entity& a, const embert_entity& b) { return a.char_begin < b.char_begin; });
  }
  size_t kept = 0;
  for (size_t i = 0; i < sorted; ++i) {
    if (kept == 0 || entities[i].char_begin >= entities[kept - 1].char_end) {
      entities[kept++] = entities[i];
    } else if (is_better(entities[i], entities[kept - 1])) {
      entities[kept - 1] = entities[i];
    }
  }
  *count = kept;
  return EMBERT_STATUS_OK;
}
