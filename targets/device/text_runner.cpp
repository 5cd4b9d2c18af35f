// SPDX-License-Identifier: Apache-2.0
#include "targets/device/text_runner.hpp"

#include <string.h>

#include "embert/embert_inspect.h"
#include "embert/embert_lm.h"
#include "embert/embert_run.h"
#include "embert/embert_tokenizer.h"

namespace embert::device {
namespace {

constexpr uint8_t kUnused = 0xa5;  // fills the arena, to find its high water

template <typename T>
uint32_t crc_of(const T* values, size_t count) {
  return embert_crc32c(0, values, count * sizeof(T));
}

int32_t highest_of(const int32_t* logits, uint32_t count) {
  uint32_t best = 0;
  for (uint32_t i = 1; i < count; ++i) {
    if (logits[i] > logits[best]) best = i;
  }
  return static_cast<int32_t>(best);
}

}  // namespace

embert_status TextRunner::open(const embert_model& model, uint32_t max_tokens, void* arena,
                               size_t arena_bytes, const TextBuffers& buffers) {
  memset(arena, kUnused, arena_bytes);
  arena_ = static_cast<const uint8_t*>(arena);
  arena_bytes_ = arena_bytes;
  buffers_ = buffers;
  max_tokens_ = max_tokens;
  model_ = model;
  info_.size = sizeof(info_);
  const embert_status status = embert_model_get_info(&model_, &info_);
  if (status != EMBERT_STATUS_OK) return status;
  if (info_.has_tokenizer == 0) return EMBERT_STATUS_NO_TOKENIZER;
  embert_options options = embert_options_default(&model_);
  options.max_tokens = max_tokens;
  return embert_engine_init(&model_, &options, arena, arena_bytes, &engine_);
}

RunReply TextRunner::run(const char* text, size_t text_bytes) {
  RunReply reply = {};
  reply.label = -1;
  embert_tokenize_options options = embert_tokenize_options_default(&model_);
  options.max_tokens = static_cast<int32_t>(max_tokens_);
  embert_tokens tokens = {.size = sizeof(tokens)};
  tokens.capacity = max_tokens_;
  tokens.ids = buffers_.ids;
  tokens.type_ids = buffers_.type_ids;
  const embert_text input_text = {.text = text, .text_bytes = text_bytes};
  embert_status status = embert_tokenize(&model_, &input_text, &options, &tokens);
  if (status == EMBERT_STATUS_OK && info_.is_decoder != 0) status = embert_cache_clear(engine_);
  if (status == EMBERT_STATUS_OK) {
    const uint32_t length = static_cast<uint32_t>(tokens.length);
    embert_input input = {.size = sizeof(input)};
    input.ids = buffers_.ids;
    input.type_ids = buffers_.type_ids;
    input.lengths = &length;
    input.batch = 1;
    reply.tokens = length;
    reply.ids_crc = crc_of(buffers_.ids, length);
    if (info_.num_labels > 0) {
      status = embert_classify(engine_, &input, buffers_.logits, &logits_scale_);
      if (status == EMBERT_STATUS_OK) {
        reply.outputs_crc = crc_of(buffers_.logits, info_.num_labels);
        reply.label = highest_of(buffers_.logits, info_.num_labels);
      }
    } else {
      status = embert_embed(engine_, &input, EMBERT_POOLING_MODEL, buffers_.embedding, nullptr);
      if (status == EMBERT_STATUS_OK) {
        reply.outputs_crc = crc_of(buffers_.embedding, info_.vector_size);
      }
    }
  }
  reply.status = static_cast<uint32_t>(status);
  reply.arena_bytes = static_cast<uint32_t>(arena_high_water());
  return reply;
}

size_t TextRunner::arena_high_water() const {
  size_t used = arena_bytes_;
  while (used > 0 && arena_[used - 1] == kUnused) --used;
  return used;
}

}  // namespace embert::device
