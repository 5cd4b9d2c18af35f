// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/input/check_input.hpp"

#include "runtime/model/scale.hpp"

namespace embert {
namespace {

constexpr uint32_t kMaxThreads = 64;

bool all_below(const int32_t* ids, size_t count, uint32_t limit) {
  for (size_t i = 0; i < count; ++i) {
    if (static_cast<uint32_t>(ids[i]) >= limit) return false;
  }
  return true;
}

embert_status check_lengths(const Engine& engine, size_t stack, const embert_input& input,
                            size_t* tokens) {
  const BlobHeader& header = *engine.model.header;
  const bool is_source = stack + 1 < header.num_stacks;
  const bool causal = (header.stacks[stack].flags & kStackCausal) != 0;
  const uint32_t room = is_source ? engine.options.max_source_tokens : engine.options.max_tokens;
  const uint32_t* cached = engine.at<uint32_t>(engine.plan.self.lengths);  // read where causal
  *tokens = 0;
  for (uint32_t i = 0; i < input.batch; ++i) {
    if (input.lengths[i] == 0) return EMBERT_STATUS_EMPTY_INPUT;
    if (input.lengths[i] > room) return EMBERT_STATUS_TOO_MANY_TOKENS;
    if (causal && input.lengths[i] > room - cached[i]) return EMBERT_STATUS_CACHE_FULL;
    *tokens += input.lengths[i];
  }
  return EMBERT_STATUS_OK;
}

embert_status check_head_mask(const BlobStack& stack, const embert_input& input) {
  if (input.head_mask == nullptr) {
    return input.head_mask_layers == 0 ? EMBERT_STATUS_OK : EMBERT_STATUS_INVALID_MASK;
  }
  if (input.head_mask_layers != 0 && input.head_mask_layers != stack.num_layers) {
    return EMBERT_STATUS_INVALID_MASK;
  }
  const size_t rows = input.head_mask_layers != 0 ? input.head_mask_layers : 1;
  return all_below(input.head_mask, rows * stack.num_heads, 65536 + 1) ? EMBERT_STATUS_OK
                                                                       : EMBERT_STATUS_INVALID_MASK;
}

}  // namespace

embert_status check_options(const BlobHeader& header, const embert_options& options) {
  const BlobStack& last = header.stacks[header.num_stacks - 1];
  const bool cross = (last.flags & kStackCrossAttention) != 0;
  const uint32_t most_source =
      header.num_stacks == 2 ? header.stacks[0].max_positions : kMaxPositions;
  const bool ok =
      options.max_tokens >= 1 && options.max_tokens <= last.max_positions &&
      options.max_batch >= 1 && options.max_batch <= kMaxBatch && options.threads >= 1 &&
      options.threads <= kMaxThreads &&
      (cross ? options.max_source_tokens >= 1 && options.max_source_tokens <= most_source
             : options.max_source_tokens == 0) &&
      (options.threads == 1 || options.parallel_for != nullptr);
  return ok ? EMBERT_STATUS_OK : EMBERT_STATUS_INVALID_OPTION;
}

embert_status check_input(const Engine& engine, size_t stack, const embert_input& input) {
  const BlobStack& config = engine.model.header->stacks[stack];
  if (input.lengths == nullptr || (input.ids == nullptr) == (input.embeddings == nullptr)) {
    return EMBERT_STATUS_NULL_ARGUMENT;
  }
  if (input.batch == 0) return EMBERT_STATUS_EMPTY_INPUT;
  if (input.batch > engine.options.max_batch) return EMBERT_STATUS_TOO_MANY_TEXTS;
  size_t tokens = 0;
  const embert_status lengths = check_lengths(engine, stack, input, &tokens);
  if (lengths != EMBERT_STATUS_OK) return lengths;
  if (input.embeddings != nullptr && !scale_ok(input.embeddings_scale.float_bits)) {
    return EMBERT_STATUS_INVALID_SCALE;
  }
  if (input.ids != nullptr && !all_below(input.ids, tokens, config.vocab_size)) {
    return EMBERT_STATUS_TOKEN_OUT_OF_RANGE;
  }
  if (input.type_ids != nullptr && !all_below(input.type_ids, tokens, config.type_vocab_size)) {
    return EMBERT_STATUS_TYPE_OUT_OF_RANGE;
  }
  if (input.position_ids != nullptr &&
      !all_below(input.position_ids, tokens, config.max_positions)) {
    return EMBERT_STATUS_POSITION_OUT_OF_RANGE;
  }
  const bool cross = (config.flags & kStackCrossAttention) != 0;
  if (input.cross_mask != nullptr && !cross) return EMBERT_STATUS_INVALID_MASK;
  if (cross && (engine.source_texts == 0 ||
                (engine.source_texts != 1 && engine.source_texts < input.batch))) {
    return EMBERT_STATUS_NO_SOURCE;
  }
  return check_head_mask(config, input);
}

embert_status check_static_input(const Engine& engine, const embert_input& input) {
  if (input.embeddings != nullptr || input.position_ids != nullptr || input.head_mask != nullptr ||
      input.head_mask_layers != 0 || input.key_mask != nullptr || input.query_mask != nullptr ||
      input.pair_mask != nullptr || input.cross_mask != nullptr) {
    return EMBERT_STATUS_NO_ENCODER;
  }
  if (input.lengths == nullptr || input.ids == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  if (input.batch == 0) return EMBERT_STATUS_EMPTY_INPUT;
  if (input.batch > engine.options.max_batch) return EMBERT_STATUS_TOO_MANY_TEXTS;
  size_t tokens = 0;
  for (uint32_t i = 0; i < input.batch; ++i) {
    if (input.lengths[i] > engine.options.max_tokens) return EMBERT_STATUS_TOO_MANY_TOKENS;
    tokens += input.lengths[i];
  }
  if (!all_below(input.ids, tokens, last_config(engine).vocab_size)) {
    return EMBERT_STATUS_TOKEN_OUT_OF_RANGE;
  }
  if (input.type_ids != nullptr && !all_below(input.type_ids, tokens, 1)) {
    return EMBERT_STATUS_TYPE_OUT_OF_RANGE;
  }
  return EMBERT_STATUS_OK;
}

embert_status check_output(const BlobHeader& header, const embert_output& output) {
  const BlobStack& last = header.stacks[header.num_stacks - 1];
  if (output.hidden_states != nullptr && output.hidden_state_scales == nullptr) {
    return EMBERT_STATUS_NULL_ARGUMENT;
  }
  if (output.cross_attentions != nullptr && (last.flags & kStackCrossAttention) == 0) {
    return EMBERT_STATUS_NO_CROSS_ATTENTION;
  }
  if (output.pooled != nullptr && (header.task_heads & kHeadPooler) == 0)
    return EMBERT_STATUS_NO_POOLER;
  if (output.logits != nullptr && (header.task_heads & kHeadClassifier) == 0) {
    return EMBERT_STATUS_NO_CLASSIFIER;
  }
  if (output.token_logits != nullptr && (header.task_heads & kHeadTokenClassifier) == 0) {
    return EMBERT_STATUS_NO_TOKEN_CLASSIFIER;
  }
  return EMBERT_STATUS_OK;
}

}  // namespace embert
