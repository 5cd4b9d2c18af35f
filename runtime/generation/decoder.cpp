// SPDX-License-Identifier: Apache-2.0
// What decoders keep from call to call: keys and values of the tokens so far, and those made from
// an encoder's states.
#include <string.h>

#include "kernels/arithmetic/layout.hpp"
#include "runtime/engine/attention.hpp"
#include "runtime/engine/check_input.hpp"
#include "runtime/engine/forward.hpp"
#include "runtime/engine/kv_cache.hpp"
#include "runtime/engine/task_heads.hpp"
#include "runtime/model/scale.hpp"

namespace embert {
namespace {

/// Calls change(place) for every head's place of the cache.
template <typename Change>
void for_places(Pass& pass, size_t text, Change change) {
  for (pass.layer_index = 0; pass.layer_index < pass.stack.config->num_layers; ++pass.layer_index) {
    for (size_t head = 0; head < pass.stack.config->num_heads; ++head) {
      change(self_keys(pass, 0, {text, 0, 0, 0, 0}, head));
    }
  }
}

/// Makes a head's values those of its first `length` tokens: zeros behind them, and their sums.
void truncate_values(const HeadKeys& keys, size_t columns, size_t length) {
  for (size_t c = 0; c < columns; ++c) {
    int32_t sum = 0;
    for (size_t token = 0; token < pad_inputs(length); ++token) {
      int8_t& value = keys.value[n16k4_index(c, token, keys.value_inputs)];
      if (token >= length) value = 0;
      sum += value;
    }
    keys.value_sums[c] = sum;
  }
}

/// Each of `batch` parts of `bytes`, `stride` apart, becomes what its parent is. In chunks: every
/// parent's is read before any is written, so a parent may have children anywhere, and none.
void reorder_parts(uint8_t* parts, size_t bytes, size_t stride, const uint32_t* parents,
                   size_t batch, uint8_t* chunks) {
  for (size_t at = 0; at < bytes; at += kChunkBytes) {
    const size_t n = smaller(kChunkBytes, bytes - at);
    for (size_t i = 0; i < batch; ++i) {
      memcpy(chunks + i * kChunkBytes, parts + parents[i] * stride + at, n);
    }
    for (size_t i = 0; i < batch; ++i) {
      memcpy(parts + i * stride + at, chunks + i * kChunkBytes, n);
    }
  }
}

/// Makes `states` s16 [length][cross_hidden_size], in the step that the stack reads, a source:
/// keys and values of all layers. mask [length] or null.
void add_source(Pass& pass, size_t source, const int16_t* states, size_t length,
                const uint8_t* mask) {
  const CachePlan& cache = pass.plan.source;
  pass.at<uint32_t>(cache.lengths)[source] = static_cast<uint32_t>(length);
  uint8_t* bytes = pass.at<uint8_t>(cache.mask) + source * cache.tokens;
  for (size_t i = 0; i < length; ++i) bytes[i] = mask != nullptr ? mask[i] != 0 : 1;
  for (size_t l = 0; l < pass.stack.config->num_layers; ++l) {
    pass.layer_index = l;
    pass.layer = model_layer(pass.engine.model, pass.stack, l);
    project_source(pass, source, states, length);
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
  const Plan plan = make_plan(*engine->model.header, last_stack(*engine), engine->options);
  return engine->at<uint32_t>(plan.cache.lengths)[text];
}

embert_status embert_cache_reorder(embert_engine* engine, const uint32_t* parents, uint32_t batch) {
  using namespace embert;
  if (engine == nullptr || parents == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  if (!is_decoder(*engine)) return EMBERT_STATUS_NOT_A_DECODER;
  if (batch > engine->options.max_batch) return EMBERT_STATUS_TOO_MANY_TEXTS;
  for (uint32_t i = 0; i < batch; ++i) {
    if (parents[i] >= engine->options.max_batch) return EMBERT_STATUS_INVALID_OPTION;
  }
  const Pass pass = make_pass(*engine, last_stack(*engine));
  const CachePlan& cache = pass.plan.cache;
  uint8_t* chunks = pass.scratch<uint8_t>(0, pass.plan.chunks);
  reorder_parts(pass.at<uint8_t>(cache.lengths), 4, 4, parents, batch, chunks);
  reorder_parts(pass.at<uint8_t>(cache.mask), cache.tokens, cache.tokens, parents, batch, chunks);
  const size_t text_bytes = static_cast<size_t>(pass.stack.config->num_heads * cache.head.bytes);
  uint8_t* places = pass.at<uint8_t>(cache.places);
  for (size_t l = 0; l < pass.stack.config->num_layers; ++l) {
    reorder_parts(places + l * engine->options.max_batch * text_bytes, text_bytes, text_bytes,
                  parents, batch, chunks);
  }
  engine->rows = 0;
  return EMBERT_STATUS_OK;
}

embert_status embert_cache_truncate(embert_engine* engine, uint32_t text, uint32_t length) {
  using namespace embert;
  if (engine == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  if (!is_decoder(*engine)) return EMBERT_STATUS_NOT_A_DECODER;
  if (text >= engine->options.max_batch) return EMBERT_STATUS_TOO_MANY_TEXTS;
  Pass pass = make_pass(*engine, last_stack(*engine));
  uint32_t* lengths = pass.at<uint32_t>(pass.plan.cache.lengths);
  if (length > lengths[text]) return EMBERT_STATUS_INVALID_OPTION;
  lengths[text] = length;
  const size_t columns = 2 * pad_columns(pass.head_size());
  for_places(pass, text, [&](const HeadKeys& keys) { truncate_values(keys, columns, length); });
  return EMBERT_STATUS_OK;
}

embert_status embert_set_source(embert_engine* engine, const int16_t* states, embert_scale scale,
                                const uint32_t* lengths, uint32_t batch, const uint8_t* mask) {
  using namespace embert;
  if (engine == nullptr || states == nullptr || lengths == nullptr) {
    return EMBERT_STATUS_NULL_ARGUMENT;
  }
  Pass pass = make_pass(*engine, last_stack(*engine));
  const BlobStack& config = *pass.stack.config;
  if ((config.flags & kStackCrossAttention) == 0) return EMBERT_STATUS_NO_CROSS_ATTENTION;
  const embert_status status = check_source(*engine, lengths, batch);
  if (status != EMBERT_STATUS_OK) return status;
  if (!scale_ok(scale.float_bits)) return EMBERT_STATUS_INVALID_SCALE;

  const int64_t ratio = scale_ratio_q16(scale.float_bits, config.cross_scale);
  int16_t* scaled = pass.at<int16_t>(pass.plan.shared);  // [max_source_tokens][cross_hidden_size]
  engine->source_texts = batch;
  for (uint32_t source = 0; source < batch; ++source) {
    const size_t count = size_t{lengths[source]} * config.cross_hidden_size;
    for (size_t i = 0; i < count; ++i) {
      scaled[i] = static_cast<int16_t>(sat16(shift_round(states[i] * ratio, 16)));
    }
    add_source(pass, source, scaled, lengths[source], mask);
    states += count;
    if (mask != nullptr) mask += lengths[source];
  }
  clear_cache(*engine);
  return EMBERT_STATUS_OK;
}

embert_status embert_encode_source(embert_engine* engine, const embert_input* input,
                                   embert_output* output) {
  using namespace embert;
  if (engine == nullptr || input == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  const BlobHeader& header = *engine->model.header;
  if (header.num_stacks != 2) return EMBERT_STATUS_NO_CROSS_ATTENTION;
  embert_output nothing = {};
  embert_output& wanted = output != nullptr ? *output : nothing;
  if (wanted.pooled != nullptr || wanted.logits != nullptr || wanted.token_logits != nullptr ||
      wanted.cross_attentions != nullptr) {
    return EMBERT_STATUS_INVALID_OPTION;
  }
  embert_status status = check_output(header, wanted);
  if (status == EMBERT_STATUS_OK) status = check_input(*engine, 0, *input);
  if (status != EMBERT_STATUS_OK) return status;

  const Pass encoder = run_stack(*engine, 0, *input, wanted, false);
  const int16_t* hidden = encoder.at<int16_t>(encoder.plan.normalized);  // [tokens][H]
  if (wanted.hidden != nullptr) *wanted.hidden = hidden;
  wanted.hidden_scale.float_bits = encoder.stack.config->hidden_scale;

  Pass pass = make_pass(*engine, last_stack(*engine));
  pass.plan = encoder.plan;  // the encoder's states are still in its places
  const size_t width = pass.stack.config->cross_hidden_size;
  const bool projects = (header.task_heads & kHeadProjection) != 0;
  engine->source_texts = input->batch;
  for (TextRows text = first_text(encoder); text.text < input->batch;
       text = next_text(encoder, text)) {
    const int16_t* states = hidden + text.begin * encoder.hidden_size();
    if (projects) {
      int16_t* projected = pass.at<int16_t>(pass.plan.shared);  // [length][cross_hidden_size]
      dense_rows(pass, model_projection(engine->model), states, text.length, encoder.hidden_size(),
                 width, [&](size_t i, size_t c, int32_t y) {
                   projected[i * width + c] = static_cast<int16_t>(sat16(y));
                 });
      states = projected;
    }
    add_source(pass, text.text, states, text.length,
               input->key_mask != nullptr ? input->key_mask + text.begin : nullptr);
  }
  clear_cache(*engine);
  return EMBERT_STATUS_OK;
}
