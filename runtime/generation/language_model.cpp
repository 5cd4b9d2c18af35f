// SPDX-License-Identifier: Apache-2.0
#include "runtime/generation/language_model.hpp"

#include <string.h>

#include "embert/embert_lm.h"
#include "kernels/arithmetic/layout.hpp"
#include "runtime/tasks/top_list.hpp"

namespace embert {

LmRow::LmRow(const Pass& pass, const int16_t* hidden)
    : pass_(pass), head_(model_lm(pass.engine.model)) {
  const Kernels& kernels = pass.engine.kernels;
  const size_t size = pass.hidden_size();
  const int16_t* row = hidden;
  if (head_.transform.dense.weights != nullptr) {
    int16_t* made = pass.scratch<int16_t>(0, pass.plan.row);  // [H]
    // The activation's offset is the same in every channel, and LayerNorm takes it out.
    dense_rows(pass, head_.transform, hidden, 1, size, size, [&](size_t, size_t c, int32_t y) {
      made[c] = static_cast<int16_t>(activate(clamp<int32_t>(y, -32767, 32767), head_.activation));
    });
    kernels.layernorm({1, size, made, made, size, head_.norm.epsilon_n2, head_.norm.gain,
                       head_.norm.bias, head_.norm.shift});
    row = made;
  }
  uint8_t* planes = pass.scratch<uint8_t>(0, pass.plan.lhs);
  kernels.convert_s8x2_s16({1, size, row, size, planes, pass.plan.lhs_stride, 0});
  planes_ = reinterpret_cast<const int8_t*>(planes);
}

const int32_t* LmRow::logits(size_t first, size_t count) const {
  const size_t size = pass_.hidden_size();
  int32_t* sums = pass_.scratch<int32_t>(0, pass_.plan.words);  // [2][kWordBlock]
  pass_.engine.kernels.dot_rows({2, count, size, planes_, pass_.plan.lhs_stride,
                                 head_.rows + first * size, size, sums, kWordBlock});
  for (size_t i = 0; i < count; ++i) {
    const int64_t joined = int64_t{sums[i]} * 256 + sums[kWordBlock + i];
    const int64_t scaled = shift_round(joined * head_.multipliers[first + i], head_.shift);
    sums[i] = sat32(scaled + head_.bias[first + i]);
  }
  return sums;
}

namespace {

embert_status check_row(const Engine& engine, uint32_t row) {
  if ((engine.model.header->task_heads & kHeadLm) == 0) return EMBERT_STATUS_NO_LM;
  return row < engine.rows ? EMBERT_STATUS_OK : EMBERT_STATUS_ROW_OUT_OF_RANGE;
}

/// The gate has looked at the scale.
LogitRatio ratio_of(embert_scale scale) {
  LogitRatio ratio = {};
  make_logit_ratio(scale, &ratio);
  return ratio;
}

const int16_t* hidden_row(const Pass& pass, uint32_t row) {
  return pass.at<int16_t>(pass.plan.normalized) + row * pass.hidden_size();
}

/// The best words, as many as list has room for, and the denominator of all.
embert_log_sum rank_words(const Pass& pass, const LmRow& lm, TopList* list) {
  for_words(pass, lm, [&](const int32_t* logits, size_t count, size_t first) {
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
  const Pass pass = make_pass(*engine, last_stack(*engine));
  const LmRow lm(pass, hidden_row(pass, row));
  for_words(pass, lm, [&](const int32_t* block, size_t count, size_t first) {
    memcpy(logits + first, block, count * sizeof(int32_t));
  });
  if (scale != nullptr) scale->float_bits = engine->model.header->lm_logits_scale;
  return EMBERT_STATUS_OK;
}

embert_status embert_lm_top(embert_engine* engine, uint32_t row, size_t top_k,
                            embert_candidate* candidates, size_t* count, embert_log_sum* log_sum,
                            embert_scale* scale) {
  using namespace embert;
  if (engine == nullptr || candidates == nullptr || count == nullptr) {
    return EMBERT_STATUS_NULL_ARGUMENT;
  }
  const embert_status status = check_row(*engine, row);
  if (status != EMBERT_STATUS_OK) return status;
  if (top_k == 0) return EMBERT_STATUS_INVALID_OPTION;
  const embert_scale step = {engine->model.header->lm_logits_scale};
  const LogitRatio ratio = ratio_of(step);

  const Pass pass = make_pass(*engine, last_stack(*engine));
  const LmRow lm(pass, hidden_row(pass, row));
  TopList list = begin_top_list(candidates, top_k, ratio);
  const embert_log_sum sum = rank_words(pass, lm, &list);
  *count = list.count;
  if (log_sum != nullptr) *log_sum = sum;
  if (scale != nullptr) *scale = step;
  return EMBERT_STATUS_OK;
}

embert_status embert_lm_score(embert_engine* engine, uint32_t row, embert_candidate* candidates,
                              size_t n, embert_log_sum* log_sum, embert_scale* scale) {
  using namespace embert;
  if (engine == nullptr || candidates == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  const embert_status status = check_row(*engine, row);
  if (status != EMBERT_STATUS_OK) return status;
  if (n == 0) return EMBERT_STATUS_EMPTY_INPUT;
  const embert_scale step = {engine->model.header->lm_logits_scale};
  const LogitRatio ratio = ratio_of(step);
  const Pass pass = make_pass(*engine, last_stack(*engine));
  for (size_t i = 0; i < n; ++i) {
    if (static_cast<uint32_t>(candidates[i].id) >= pass.stack.config->vocab_size) {
      return EMBERT_STATUS_TOKEN_OUT_OF_RANGE;
    }
  }

  const LmRow lm(pass, hidden_row(pass, row));
  TopList none = begin_top_list(nullptr, 0, ratio);
  const embert_log_sum sum = rank_words(pass, lm, &none);
  for (size_t i = 0; i < n; ++i) {
    candidates[i].logit = *lm.logits(static_cast<size_t>(candidates[i].id), 1);
    score_candidate(&candidates[i], sum, ratio);
  }
  if (log_sum != nullptr) *log_sum = sum;
  if (scale != nullptr) *scale = step;
  return EMBERT_STATUS_OK;
}
