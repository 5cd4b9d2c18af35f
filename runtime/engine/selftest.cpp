// SPDX-License-Identifier: Apache-2.0
// Power-on self-test: a text that the blob carries must give the same tokens and the same bits as
// where the blob was made. Outputs go into one checksum block by block, so none needs a buffer.
#include <string.h>

#include "embert/embert_lm.h"
#include "embert/embert_tokenizer.h"
#include "runtime/engine/attention/kv_cache.hpp"
#include "runtime/engine/heads/lm_head.hpp"

namespace embert {
namespace {

struct Selftest {
  const BlobSelftest* record;  ///< null without one
  const int32_t* ids;          ///< [tokens]
  const uint8_t* text;
  size_t text_bytes;
};

Selftest model_selftest(const Model& model) {
  const size_t bytes = model_section_bytes(model, kSectionSelftest);
  if (bytes == 0) return {};
  const uint8_t* section = model_section(model, kSectionSelftest);
  const auto* record = reinterpret_cast<const BlobSelftest*>(section);
  const size_t before_text = sizeof(*record) + record->tokens * sizeof(int32_t);
  return {record, reinterpret_cast<const int32_t*>(section + sizeof(*record)),
          section + before_text, bytes - before_text};
}

/// Whether the tokenizer gives the ids that the rest of the test runs on. noinline: keeps its ids
/// off the stack while the model runs.
[[gnu::noinline]] bool tokenizes_to_ids(const Model& model, const Selftest& test) {
  if (test.text_bytes == 0) return true;
  const uint32_t most =
      model.header->max_tokens < kMaxSelftestTokens ? model.header->max_tokens : kMaxSelftestTokens;
  int32_t ids[kMaxSelftestTokens];
  embert_tokens tokens = {};
  tokens.capacity = kMaxSelftestTokens;
  tokens.ids = ids;
  const embert_tokenize_options options = run_tokenize_options(most);
  const embert_text text = {reinterpret_cast<const char*>(test.text), test.text_bytes, nullptr, 0};
  return tokenize(model.tokenizer, text, options, &tokens) == TokenizerStatus::kOk &&
         tokens.length == test.record->tokens &&
         memcmp(ids, test.ids, test.record->tokens * sizeof(int32_t)) == 0;
}

/// Of the last hidden state that the run left in the arena, and of all task heads on it. noinline:
/// keeps an LmRow off the stack while the model and the tokenizer run.
[[gnu::noinline]] uint32_t checksum_of_outputs(Engine& engine, size_t tokens) {
  const Model& model = engine.model;
  const BlobHeader& header = *model.header;
  const Buffers buffers = last_buffers(engine);
  const size_t size = last_config(engine).hidden_size;
  const int16_t* hidden = buffers.at<int16_t>(buffers.plan.normalized);  // [tokens][H]
  uint32_t crc = 0;
  const auto add = [&](const void* data, size_t bytes) {
    crc = engine.kernels.crc32c(crc, static_cast<const uint8_t*>(data), bytes);
  };
  const auto add_logit = [&](size_t, size_t, int32_t logit) { add(&logit, sizeof(logit)); };

  add(hidden, tokens * size * sizeof(int16_t));
  if ((header.task_heads & kHeadTokenClassifier) != 0) {
    token_logits(buffers, {hidden, 1, size}, add_logit);
  }
  if ((header.task_heads & kHeadPooler) != 0) {
    int16_t* pooled = buffers.scratch<int16_t>(0, buffers.plan.row);  // [H]
    pool_head(buffers, {hidden, tokens, nullptr}, pooled);
    add(pooled, size * sizeof(int16_t));
    if ((header.task_heads & kHeadClassifier) != 0) {
      dense16_rows(buffers, model_classifier(model), {pooled, 1, size}, header.num_labels,
                   add_logit);
    }
  }
  if ((header.task_heads & kHeadLm) != 0) {
    const LmRow row(buffers, hidden + (tokens - 1) * size);
    for_vocab_blocks(row, [&](const int32_t* logits, size_t count, size_t) {
      add(logits, count * sizeof(int32_t));
    });
  }
  return crc;
}

/// Static embeddings have no hidden states: the checksum is that of the vector.
embert_status checksum_of_vector(Engine& engine, const embert_input& input, uint32_t* checksum) {
  const Buffers buffers = last_buffers(engine);
  int16_t* vector = buffers.at<int16_t>(buffers.plan.normalized);  // [vector_size]
  const embert_status status = embert_embed(static_cast<embert_engine*>(&engine), &input,
                                            EMBERT_POOLING_MODEL, vector, nullptr);
  if (status == EMBERT_STATUS_OK) {
    *checksum = engine.kernels.crc32c(0, reinterpret_cast<const uint8_t*>(vector),
                                      model_vector_size(engine.model) * sizeof(int16_t));
  }
  return status;
}

void forget_texts(Engine& engine) {
  engine.source_texts = 0;
  if (is_decoder(engine)) clear_cache(engine);
}

}  // namespace
}  // namespace embert

embert_status embert_selftest(embert_engine* engine, uint32_t* checksum) {
  using namespace embert;
  if (engine == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  const Selftest test = model_selftest(engine->model);
  if (test.record == nullptr) return EMBERT_STATUS_NO_SELFTEST;
  const embert_input input = {
      .size = sizeof(input), .ids = test.ids, .lengths = &test.record->tokens, .batch = 1};
  forget_texts(*engine);
  embert_status status = EMBERT_STATUS_OK;
  if (engine->model.header->num_stacks == 2) {
    status = embert_encode_source(engine, &input, nullptr);
  }
  const int16_t* hidden = nullptr;
  uint32_t found = 0;
  if (is_static(*engine)) {
    status = checksum_of_vector(*engine, input, &found);
  } else {
    if (status == EMBERT_STATUS_OK)
      status = embert_last_hidden_state(engine, &input, &hidden, nullptr);
    if (status == EMBERT_STATUS_OK) found = checksum_of_outputs(*engine, test.record->tokens);
  }
  forget_texts(*engine);
  if (status != EMBERT_STATUS_OK) return status;
  if (checksum != nullptr) *checksum = found;
  return found == test.record->crc32c && tokenizes_to_ids(engine->model, test)
             ? EMBERT_STATUS_OK
             : EMBERT_STATUS_SELFTEST_FAILED;
}
