// SPDX-License-Identifier: Apache-2.0
// The public functions of the language model's head.
#include "embert/embert_lm.h"

#include <string.h>

#include "runtime/engine/heads/lm_head.hpp"
#include "runtime/tasks/top_list.hpp"

namespace embert {
namespace {

embert_status check_row(const Engine& engine, uint32_t row) {
  if ((engine.model.header->task_heads & kHeadLm) == 0) return EMBERT_STATUS_NO_LM;
  return row < engine.rows ? EMBERT_STATUS_OK : EMBERT_STATUS_ROW_OUT_OF_RANGE;
}

const int16_t* hidden_row(const Buffers& buffers, uint32_t row) {
  return buffers.at<int16_t>(buffers.plan.normalized) +
         row * size_t{last_config(buffers.engine).hidden_size};
}

/// Ranks the vocabulary: the best tokens, as many as the list has room for, and the denominator.
embert_log_sum rank_tokens(const LmRow& lm, TopList* list) {
  for_vocab_blocks(lm, [&](const int32_t* logits, size_t count, size_t first) {
    add_to_top_list(list, logits, count, static_cast<int32_t>(first));
  });
  return finish_top_list(list);
}

}  // namespace
}  // namespace embert

embert_status embert_lm_logits(embert_engine* engine, uint32_t row, int32_t* logits,
                               embert_scale* scale) {
  using namespace embert;
  if (engine == nullptr || logits == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  const embert_status status = check_row(*engine, row);
  if (status != EMBERT_STATUS_OK) return status;
  const Buffers buffers = last_buffers(*engine);
  const LmRow lm(buffers, hidden_row(buffers, row));
  for_vocab_blocks(lm, [&](const int32_t* block, size_t count, size_t first) {
    memcpy(logits + first, block, count * sizeof(int32_t));
  });
  if (scale != nullptr) scale->float_bits = engine->model.header->lm_logits_scale;
  return EMBERT_STATUS_OK;
}

embert_status embert_lm_top(embert_engine* engine, uint32_t row, embert_candidates* best,
                            embert_log_sum* log_sum, embert_scale* scale) {
  using namespace embert;
  if (engine == nullptr || best == nullptr || best->items == nullptr) {
    return EMBERT_STATUS_NULL_ARGUMENT;
  }
  const embert_status status = check_row(*engine, row);
  if (status != EMBERT_STATUS_OK) return status;
  if (best->capacity == 0) return EMBERT_STATUS_INVALID_OPTION;
  const embert_scale logits_scale = {engine->model.header->lm_logits_scale};
  const LogitRatio ratio = logit_ratio(logits_scale);

  const Buffers buffers = last_buffers(*engine);
  const LmRow lm(buffers, hidden_row(buffers, row));
  TopList list = begin_top_list(best->items, best->capacity, ratio);
  const embert_log_sum sum = rank_tokens(lm, &list);
  best->count = list.count;
  if (log_sum != nullptr) *log_sum = sum;
  if (scale != nullptr) *scale = logits_scale;
  return EMBERT_STATUS_OK;
}

embert_status embert_lm_score(embert_engine* engine, uint32_t row, embert_candidates* tokens,
                              embert_log_sum* log_sum, embert_scale* scale) {
  using namespace embert;
  if (engine == nullptr || tokens == nullptr || tokens->items == nullptr) {
    return EMBERT_STATUS_NULL_ARGUMENT;
  }
  const embert_status status = check_row(*engine, row);
  if (status != EMBERT_STATUS_OK) return status;
  if (tokens->count == 0) return EMBERT_STATUS_EMPTY_INPUT;
  const embert_scale logits_scale = {engine->model.header->lm_logits_scale};
  const LogitRatio ratio = logit_ratio(logits_scale);
  for (size_t i = 0; i < tokens->count; ++i) {
    if (static_cast<uint32_t>(tokens->items[i].id) >= last_config(*engine).vocab_size) {
      return EMBERT_STATUS_TOKEN_OUT_OF_RANGE;
    }
  }

  const Buffers buffers = last_buffers(*engine);
  const LmRow lm(buffers, hidden_row(buffers, row));
  TopList none = begin_top_list(nullptr, 0, ratio);
  const embert_log_sum sum = rank_tokens(lm, &none);
  for (size_t i = 0; i < tokens->count; ++i) {
    embert_candidate& token = tokens->items[i];
    token.logit = *lm.logits(static_cast<size_t>(token.id), 1);
    score_candidate(&token, sum, ratio);
  }
  if (log_sum != nullptr) *log_sum = sum;
  if (scale != nullptr) *scale = logits_scale;
  return EMBERT_STATUS_OK;
}
