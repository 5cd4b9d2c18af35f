// SPDX-License-Identifier: Apache-2.0
// The public functions of decoders: the KV cache of their own tokens, and the encoder states that
// cross-attention reads.
#include "runtime/engine/attention/head_projections.hpp"
#include "runtime/engine/attention/kv_cache.hpp"
#include "runtime/engine/forward.hpp"
#include "runtime/engine/heads/task_heads.hpp"
#include "runtime/engine/input/check_input.hpp"
#include "runtime/model/scale.hpp"
#include "runtime/model/struct_size.hpp"

namespace embert {
namespace {

/// Makes encoder states a source: writes its keys and values of all layers to the source cache.
/// mask [length] or null.
void add_source(const Buffers& buffers, const SourceStates& states, const uint8_t* mask) {
  Engine& engine = buffers.engine;
  const KvCache cache = source_cache(engine);
  cache.length(states.source) = 0;
  cache.append_mask(states.source, mask, states.length);
  cache.length(states.source) = static_cast<uint32_t>(states.length);
  const Stack stack = model_last_stack(engine.model);
  for (size_t l = 0; l < stack.config->num_layers; ++l) {
    project_source(buffers, model_layer(engine.model, stack, l), states);
  }
}

embert_status check_source(const Engine& engine, const uint32_t* lengths, uint32_t batch) {
  if (batch == 0) return EMBERT_STATUS_EMPTY_INPUT;
  if (batch > engine.options.max_batch) return EMBERT_STATUS_TOO_MANY_TEXTS;
  for (uint32_t i = 0; i < batch; ++i) {
    if (lengths[i] == 0) return EMBERT_STATUS_EMPTY_INPUT;
    if (lengths[i] > engine.options.max_source_tokens) return EMBERT_STATUS_TOO_MANY_TOKENS;
  }
  return EMBERT_STATUS_OK;
}

/// embert_encode_source.
[[gnu::noinline]] embert_status encode_source(Engine& engine, const embert_input& input,
                                              embert_output& wanted) {
  const BlobHeader& header = *engine.model.header;
  if (header.num_stacks != 2) return EMBERT_STATUS_NO_CROSS_ATTENTION;
  if (wanted.pooled != nullptr || wanted.logits != nullptr || wanted.token_logits != nullptr ||
      wanted.cross_attentions != nullptr) {
    return EMBERT_STATUS_INVALID_OPTION;
  }
  embert_status status = check_output(header, wanted);
  if (status == EMBERT_STATUS_OK) status = check_input(engine, 0, input);
  if (status != EMBERT_STATUS_OK) return status;

  const Run encoder = run_stack(engine, 0, input, wanted, false);
  const size_t hidden_size = encoder.hidden_size();
  const int16_t* hidden = encoder.at<int16_t>(encoder.plan.normalized);  // [tokens][hidden_size]
  if (wanted.hidden != nullptr) *wanted.hidden = hidden;
  wanted.hidden_scale.float_bits = encoder.stack.config->hidden_scale;

  const size_t width = last_config(engine).cross_hidden_size;
  const bool projects = (header.task_heads & kHeadProjection) != 0;
  const uint8_t* mask = input.key_mask;
  engine.source_texts = input.batch;
  for (size_t text = 0; text < input.batch; ++text) {
    const size_t length = input.lengths[text];
    const int16_t* states = hidden;  // [length][hidden_size]
    if (projects) {
      int16_t* projected = encoder.at<int16_t>(encoder.plan.shared);  // [length][width]
      dense16_rows(encoder, model_projection(engine.model), {hidden, length, hidden_size}, width,
                   [&](size_t i, size_t c, int32_t y) {
                     projected[i * width + c] = static_cast<int16_t>(sat16(y));
                   });
      states = projected;
    }
    add_source(encoder, {text, states, length}, mask);
    hidden += length * hidden_size;
    if (mask != nullptr) mask += length;
  }
  clear_cache(engine);
  return EMBERT_STATUS_OK;
}

}  // namespace
}  // namespace embert

embert_status embert_cache_clear(embert_engine* engine) {
  using namespace embert;
  if (engine == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  if (!is_decoder(*engine)) return EMBERT_STATUS_NOT_A_DECODER;
  clear_cache(*engine);
  return EMBERT_STATUS_OK;
}

uint32_t embert_cache_length(const embert_engine* engine, uint32_t text) {
  using namespace embert;
  if (engine == nullptr || !is_decoder(*engine) || text >= engine->options.max_batch) return 0;
  return engine->at<uint32_t>(engine->plan.self.lengths)[text];
}

embert_status embert_cache_reorder(embert_engine* engine, const uint32_t* parents, uint32_t batch) {
  using namespace embert;
  if (engine == nullptr || parents == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  if (!is_decoder(*engine)) return EMBERT_STATUS_NOT_A_DECODER;
  if (batch > engine->options.max_batch) return EMBERT_STATUS_TOO_MANY_TEXTS;
  for (uint32_t i = 0; i < batch; ++i) {
    if (parents[i] >= engine->options.max_batch) return EMBERT_STATUS_INVALID_OPTION;
  }
  const Buffers buffers = last_buffers(*engine);
  self_cache(*engine).reorder(parents, batch, buffers.scratch<uint8_t>(0, buffers.plan.chunks));
  engine->rows = 0;
  return EMBERT_STATUS_OK;
}

embert_status embert_cache_truncate(embert_engine* engine, uint32_t text, uint32_t length) {
  using namespace embert;
  if (engine == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  if (!is_decoder(*engine)) return EMBERT_STATUS_NOT_A_DECODER;
  if (text >= engine->options.max_batch) return EMBERT_STATUS_TOO_MANY_TEXTS;
  const KvCache cache = self_cache(*engine);
  if (length > cache.length(text)) return EMBERT_STATUS_INVALID_OPTION;
  cache.truncate(text, length);
  return EMBERT_STATUS_OK;
}

embert_status embert_set_source(embert_engine* engine, const embert_source* source) {
  using namespace embert;
  if (engine == nullptr || source == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  embert_source given;
  embert_status status = read_struct(*source, &given);
  if (status != EMBERT_STATUS_OK) return status;
  if (given.states == nullptr || given.lengths == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  const BlobStack& config = last_config(*engine);
  if ((config.flags & kStackCrossAttention) == 0) return EMBERT_STATUS_NO_CROSS_ATTENTION;
  status = check_source(*engine, given.lengths, given.batch);
  if (status != EMBERT_STATUS_OK) return status;
  if (!scale_ok(given.scale.float_bits)) return EMBERT_STATUS_INVALID_SCALE;

  const int64_t ratio = scale_ratio_q16(given.scale.float_bits, config.cross_scale);
  const Buffers buffers = last_buffers(*engine);
  int16_t* scaled = buffers.at<int16_t>(buffers.plan.shared);  // [length][cross_hidden_size]
  engine->source_texts = given.batch;
  for (uint32_t text = 0; text < given.batch; ++text) {
    const size_t count = size_t{given.lengths[text]} * config.cross_hidden_size;
    for (size_t i = 0; i < count; ++i) {
      scaled[i] = static_cast<int16_t>(sat16(shift_round(given.states[i] * ratio, 16)));
    }
    add_source(buffers, {text, scaled, given.lengths[text]}, given.mask);
    given.states += count;
    if (given.mask != nullptr) given.mask += given.lengths[text];
  }
  clear_cache(*engine);
  return EMBERT_STATUS_OK;
}

embert_status embert_encode_source(embert_engine* engine, const embert_input* input,
                                   embert_output* output) {
  using namespace embert;
  if (engine == nullptr || input == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  return with_whole(*input, [&](const embert_input& whole_input) {
    if (output == nullptr) {
      embert_output nothing = {.size = sizeof(nothing)};
      return encode_source(*engine, whole_input, nothing);
    }
    return with_whole(*output, [&](embert_output& whole_output) {
      return encode_source(*engine, whole_input, whole_output);
    });
  });
}
