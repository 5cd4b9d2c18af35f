// SPDX-License-Identifier: Apache-2.0
// The public functions that run a model: arguments are checked here, and only here.
#include "runtime/engine.hpp"

#include <string.h>

#include "runtime/encoder.hpp"
#include "runtime/heads.hpp"

namespace embert {
namespace {

constexpr uint32_t kMaxBatch = 1024;
constexpr uint32_t kMaxThreads = 64;

embert_status check_options(const BlobStack& stack, const embert_options& options) {
  const bool ok = options.max_tokens >= 1 && options.max_tokens <= stack.max_positions &&
                  options.max_batch >= 1 && options.max_batch <= kMaxBatch &&
                  options.threads >= 1 && options.threads <= kMaxThreads &&
                  options.max_source_tokens == 0 &&
                  (options.threads == 1 || options.parallel_for != nullptr);
  return ok ? EMBERT_STATUS_OK : EMBERT_STATUS_INVALID_OPTION;
}

embert_status check_input(const Engine& engine, const embert_input& input) {
  if (input.ids == nullptr || input.lengths == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  if (input.batch == 0) return EMBERT_STATUS_EMPTY_INPUT;
  if (input.batch > engine.options.max_batch) return EMBERT_STATUS_TOO_MANY_TEXTS;
  size_t tokens = 0;
  for (uint32_t i = 0; i < input.batch; ++i) {
    if (input.lengths[i] == 0) return EMBERT_STATUS_EMPTY_INPUT;
    if (input.lengths[i] > engine.options.max_tokens) return EMBERT_STATUS_TOO_MANY_TOKENS;
    tokens += input.lengths[i];
  }
  for (size_t i = 0; i < tokens; ++i) {
    if (static_cast<uint32_t>(input.ids[i]) >= engine.stack.numbers->vocab_size) {
      return EMBERT_STATUS_TOKEN_OUT_OF_RANGE;
    }
    if (input.type_ids != nullptr &&
        static_cast<uint32_t>(input.type_ids[i]) >= engine.stack.numbers->type_vocab_size) {
      return EMBERT_STATUS_TYPE_OUT_OF_RANGE;
    }
  }
  return EMBERT_STATUS_OK;
}

/// Checks, runs the encoder and leaves the last hidden state, [tokens][H], in *hidden.
embert_status run(embert_engine* engine, const embert_input* input, const int16_t** hidden) {
  const embert_status status = check_input(*engine, *input);
  if (status != EMBERT_STATUS_OK) return status;
  encode(*engine, *input);
  *hidden = engine->at<int16_t>(engine->plan.residual);
  return EMBERT_STATUS_OK;
}

}  // namespace
}  // namespace embert

embert_options embert_options_default(const embert_model* model) {
  embert_options options = {};
  if (model == nullptr) return options;
  options.max_tokens = embert::model_of(*model).header->max_tokens;
  options.max_batch = 1;
  options.threads = 1;
  return options;
}

embert_status embert_arena_bytes(const embert_model* model, const embert_options* options,
                                 size_t* bytes) {
  using namespace embert;
  if (model == nullptr || options == nullptr || bytes == nullptr)
    return EMBERT_STATUS_NULL_ARGUMENT;
  const BlobStack& stack = *model_last_stack(model_of(*model)).numbers;
  const embert_status status = check_options(stack, *options);
  if (status != EMBERT_STATUS_OK) return status;
  const uint64_t total = make_plan(stack, *options).total;
  if (total > SIZE_MAX / 2)
    return EMBERT_STATUS_INVALID_OPTION;  // more than the machine can address
  *bytes = static_cast<size_t>(total);
  return EMBERT_STATUS_OK;
}

embert_status embert_engine_init(const embert_model* model, const embert_options* options,
                                 void* arena, size_t arena_bytes, embert_engine** engine) {
  using namespace embert;
  if (model == nullptr || options == nullptr || arena == nullptr || engine == nullptr) {
    return EMBERT_STATUS_NULL_ARGUMENT;
  }
  size_t needed = 0;
  const embert_status status = embert_arena_bytes(model, options, &needed);
  if (status != EMBERT_STATUS_OK) return status;
  if (reinterpret_cast<uintptr_t>(arena) % kBlobAlignment != 0)
    return EMBERT_STATUS_ARENA_MISALIGNED;
  if (arena_bytes < needed) return EMBERT_STATUS_ARENA_TOO_SMALL;

  embert_engine made = {};
  made.model = model_of(*model);
  made.kernels = select_kernels(made.model.isa_mask);
  made.stack = model_last_stack(made.model);
  made.plan = make_plan(*made.stack.numbers, *options);
  made.options = *options;
  memcpy(arena, &made, sizeof(made));
  *engine = static_cast<embert_engine*>(arena);
  return EMBERT_STATUS_OK;
}

embert_status embert_encode(embert_engine* engine, const embert_input* input,
                            const int16_t** hidden, embert_scale* scale) {
  using namespace embert;
  if (engine == nullptr || input == nullptr || hidden == nullptr)
    return EMBERT_STATUS_NULL_ARGUMENT;
  const embert_status status = run(engine, input, hidden);
  if (status == EMBERT_STATUS_OK && scale != nullptr)
    scale->float_bits = engine->stack.numbers->hidden_scale;
  return status;
}

embert_status embert_embed(embert_engine* engine, const embert_input* input, embert_pooling pooling,
                           int16_t* embeddings, embert_scale* scale) {
  using namespace embert;
  if (engine == nullptr || input == nullptr || embeddings == nullptr)
    return EMBERT_STATUS_NULL_ARGUMENT;
  const BlobHeader& header = *engine->model.header;
  const size_t hidden_size = engine->stack.numbers->hidden_size;
  const uint32_t kind =
      pooling == EMBERT_POOLING_MODEL ? header.pooling : static_cast<uint32_t>(pooling);
  if (kind >= kPoolingCount) return EMBERT_STATUS_INVALID_OPTION;
  const int16_t* hidden = nullptr;
  const embert_status status = run(engine, input, &hidden);
  if (status != EMBERT_STATUS_OK) return status;
  for (uint32_t i = 0; i < input->batch; ++i) {
    pool_text(*engine, hidden, input->lengths[i], kind, embeddings + size_t{i} * hidden_size);
    hidden += size_t{input->lengths[i]} * hidden_size;
  }
  constexpr uint32_t kFloat2PowMinus15 = (127u - 15u) << 23;
  if (scale != nullptr)
    scale->float_bits =
        header.normalize != 0 ? kFloat2PowMinus15 : engine->stack.numbers->hidden_scale;
  return EMBERT_STATUS_OK;
}

embert_status embert_pool(embert_engine* engine, const embert_input* input, int16_t* pooled,
                          embert_scale* scale) {
  using namespace embert;
  if (engine == nullptr || input == nullptr || pooled == nullptr)
    return EMBERT_STATUS_NULL_ARGUMENT;
  const BlobHeader& header = *engine->model.header;
  const size_t hidden_size = engine->stack.numbers->hidden_size;
  if ((header.heads & kHeadPooler) == 0) return EMBERT_STATUS_NO_POOLER;
  const int16_t* hidden = nullptr;
  const embert_status status = run(engine, input, &hidden);
  if (status != EMBERT_STATUS_OK) return status;
  for (uint32_t i = 0; i < input->batch; ++i) {
    pool_first_token(*engine, hidden, pooled + size_t{i} * hidden_size);
    hidden += size_t{input->lengths[i]} * hidden_size;
  }
  if (scale != nullptr) scale->float_bits = header.pooled_scale;
  return EMBERT_STATUS_OK;
}

embert_status embert_classify(embert_engine* engine, const embert_input* input, int32_t* logits,
                              embert_scale* scale) {
  using namespace embert;
  if (engine == nullptr || input == nullptr || logits == nullptr)
    return EMBERT_STATUS_NULL_ARGUMENT;
  const BlobHeader& header = *engine->model.header;
  const size_t hidden_size = engine->stack.numbers->hidden_size;
  if ((header.heads & kHeadClassifier) == 0) return EMBERT_STATUS_NO_CLASSIFIER;
  const int16_t* hidden = nullptr;
  const embert_status status = run(engine, input, &hidden);
  if (status != EMBERT_STATUS_OK) return status;
  for (uint32_t i = 0; i < input->batch; ++i) {
    classify_text(*engine, hidden, logits + size_t{i} * header.num_labels);
    hidden += size_t{input->lengths[i]} * hidden_size;
  }
  if (scale != nullptr) scale->float_bits = header.logits_scale;
  return EMBERT_STATUS_OK;
}
