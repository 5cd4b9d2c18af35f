// SPDX-License-Identifier: Apache-2.0
// From a text to its vector or its labels, without memory of its own.
//
// The token ids lie in the arena where the context will be: attention writes there for the first
// time after the input was checked and the embeddings were read. A row of the context has 8 bytes
// or more (arena_plan.cpp), which is an id and a segment.
#include "embert/embert_tokenizer.h"
#include "runtime/engine/attention/kv_cache.hpp"
#include "runtime/engine/forward.hpp"
#include "runtime/engine/heads/task_heads.hpp"
#include "runtime/engine/input/check_input.hpp"
#include "runtime/tasks/label_ranking.hpp"

namespace embert {
namespace {

/// The tokens of one text, as embert_input has them.
struct ArenaTokens {
  int32_t* ids;       ///< [length]
  int32_t* type_ids;  ///< [length]
  uint32_t length;
};

/// Tokenises into the arena. Not inlined: the tokenizer's 5 KB of stack would stay under the run.
[[gnu::noinline]] embert_status tokenize_text(Engine& engine, const embert_text& text,
                                              ArenaTokens* tokens) {
  if (engine.model.has_tokenizer == 0) return EMBERT_STATUS_NO_TOKENIZER;
  const uint32_t room = engine.options.max_tokens;
  const Buffers buffers = last_buffers(engine);
  tokens->ids = buffers.at<int32_t>(buffers.plan.shared);
  tokens->type_ids = tokens->ids + room;
  embert_tokens result = {};
  result.capacity = room;
  result.ids = tokens->ids;
  result.type_ids = tokens->type_ids;
  const TokenizerStatus status =
      tokenize(engine.model.tokenizer, text, run_tokenize_options(room), &result);
  if (status == TokenizerStatus::kNullArgument) return EMBERT_STATUS_NULL_ARGUMENT;
  // A text of 2^30 bytes, or a limit below the number of special tokens.
  if (status != TokenizerStatus::kOk) return EMBERT_STATUS_TOO_MANY_TOKENS;
  tokens->length = static_cast<uint32_t>(result.length);
  return EMBERT_STATUS_OK;
}

embert_input input_of(const ArenaTokens& tokens) {
  return {.size = sizeof(embert_input),
          .ids = tokens.ids,
          .lengths = &tokens.length,
          .batch = 1,
          .type_ids = tokens.type_ids};
}

/// The input of a text for a run that starts anew.
embert_status begin_text(Engine& engine, const embert_text& text, ArenaTokens* tokens) {
  const embert_status status = tokenize_text(engine, text, tokens);
  if (status == EMBERT_STATUS_OK && is_decoder(engine)) clear_cache(engine);
  return status;
}

/// Ranks the labels while their logits come out of the classifier: once for the highest, and once
/// more for the scores. pooled s16 [H].
void rank_pooled(const Run& run, const int16_t* pooled, embert_labels* labels) {
  const BlobHeader& header = *run.engine.model.header;
  const Dense16 classifier = model_classifier(run.engine.model);
  const Rows16 row = {pooled, 1, run.hidden_size()};
  const size_t n = header.num_labels;
  const embert_scale scale = {header.logits_scale};
  LabelRanking ranking = begin_label_ranking(labels, labels->capacity, logit_ratio(scale));
  dense16_rows(run, classifier, row, n,
               [&](size_t, size_t, int32_t logit) { announce_label(&ranking, logit); });
  dense16_rows(run, classifier, row, n, [&](size_t, size_t label, int32_t logit) {
    add_label(&ranking, static_cast<uint32_t>(label), logit);
  });
  finish_label_ranking(ranking, scale,
                       header.problem == kProblemRegression
                           ? EMBERT_SCORE_NONE
                           : embert_default_score_function(
                                 static_cast<embert_problem>(header.problem), header.num_labels));
}

}  // namespace
}  // namespace embert

embert_status embert_embed_text(embert_engine* engine, const embert_text* text, int16_t* vector,
                                embert_scale* scale) {
  using namespace embert;
  if (engine == nullptr || text == nullptr || vector == nullptr) {
    return EMBERT_STATUS_NULL_ARGUMENT;
  }
  ArenaTokens tokens = {};
  const embert_status status = begin_text(*engine, *text, &tokens);
  if (status != EMBERT_STATUS_OK) return status;
  const embert_input input = input_of(tokens);
  return embert_embed(engine, &input, EMBERT_POOLING_MODEL, vector, scale);
}

embert_status embert_classify_text(embert_engine* engine, const embert_text* text,
                                   embert_labels* labels) {
  using namespace embert;
  if (engine == nullptr || text == nullptr || labels == nullptr || labels->items == nullptr) {
    return EMBERT_STATUS_NULL_ARGUMENT;
  }
  if (labels->capacity == 0) return EMBERT_STATUS_INVALID_OPTION;
  if ((engine->model.header->task_heads & kHeadClassifier) == 0) return EMBERT_STATUS_NO_CLASSIFIER;
  ArenaTokens tokens = {};
  embert_status status = begin_text(*engine, *text, &tokens);
  if (status != EMBERT_STATUS_OK) return status;
  const embert_input input = input_of(tokens);
  status = check_input(*engine, last_stack(*engine), input);
  if (status != EMBERT_STATUS_OK) return status;

  const embert_output no_output = {.size = sizeof(no_output)};
  const Run run = run_stack(*engine, last_stack(*engine), input, no_output,
                            /*first_only=*/!pools_mean(engine->model));
  engine->rows = 0;
  int16_t* pooled = run.scratch<int16_t>(0, run.plan.row);  // [H]
  pool_head(run, {run.at<int16_t>(run.plan.normalized), tokens.length, nullptr}, pooled);
  rank_pooled(run, pooled, labels);
  return EMBERT_STATUS_OK;
}
