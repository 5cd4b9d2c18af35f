// SPDX-License-Identifier: Apache-2.0
// Masked tokens: run() reads the tokens of the last tokenize(), then best_tokens() gives the words
// for a mask, and detokenize() the text of ids.
#include "embert/embert_lm.h"
#include "embert/embert_tokenizer.h"
#include "targets/web/module/web_model.hpp"

namespace embert::web {
namespace {

size_t result_bytes, result_count;

embert_tokenizer_info tokenizer_info() {
  embert_tokenizer_info info = {.size = sizeof(info)};
  return embert_model_get_tokenizer(&web.model, &info) == EMBERT_STATUS_OK
             ? info
             : embert_tokenizer_info{.mask_id = UINT32_MAX};
}

}  // namespace

/// Id of the mask token; 2^32 - 1: there is none.
EMBERT_EXPORT(mask_id) uint32_t mask_id() { return tokenizer_info().mask_id; }
EMBERT_EXPORT(token_count) uint32_t token_count() { return tokenizer_info().token_count; }

EMBERT_EXPORT(run)
uint32_t run(const int32_t* ids, const int32_t* type_ids, uint32_t length) {
  if (web.info.has_lm == 0 || web.info.is_decoder != 0) return EMBERT_STATUS_NO_LM;
  const embert_input input = {
      .size = sizeof(input), .ids = ids, .lengths = &length, .batch = 1, .type_ids = type_ids};
  embert_output output = {.size = sizeof(output)};
  return embert_run(web.engine, &input, &output);
}

/// items [top]: the best tokens for a row of the last run(), best first.
EMBERT_EXPORT(best_tokens)
uint32_t best_tokens(uint32_t row, embert_candidate* items, uint32_t top) {
  embert_candidates best = {.items = items, .capacity = top, .count = 0};
  const embert_status status = embert_lm_top(web.engine, row, &best, nullptr, nullptr);
  result_count = best.count;
  return status;
}
EMBERT_EXPORT(best_count) size_t best_count() { return result_count; }

/// Text of ids [count], as `embert fill-mask` shows it. BUFFER_TOO_SMALL: text_bytes() is the room
/// needed.
EMBERT_EXPORT(detokenize)
uint32_t detokenize(const int32_t* ids, size_t count, uint32_t skip_special, char* text,
                    size_t capacity) {
  const embert_detokenize_options options = {
      .size = sizeof(options), .skip_special = skip_special, .clean_up = 1};
  embert_text_buffer buffer = {.text = text, .capacity = capacity, .bytes = 0};
  const embert_status status = embert_detokenize(&web.model, ids, count, &options, &buffer);
  result_bytes = buffer.bytes;
  return status;
}
EMBERT_EXPORT(text_bytes) size_t text_bytes() { return result_bytes; }

}  // namespace embert::web
