// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/kv_cache.hpp"

#include <string.h>

#include "kernels/arithmetic/layout.hpp"

namespace embert {
namespace {

HeadKeys keys_at(uint8_t* place, const KeysPlan& plan, size_t count, size_t value_inputs) {
  return {reinterpret_cast<int8_t*>(place + plan.key),
          reinterpret_cast<int8_t*>(place + plan.value),
          reinterpret_cast<int32_t*>(place + plan.key_sums),
          reinterpret_cast<int32_t*>(place + plan.value_sums),
          count,
          value_inputs,
          nullptr};
}

/// A head's place among [layers][batch][heads].
uint8_t* cached_place(const Pass& pass, const CachePlan& cache, size_t text, size_t head) {
  const size_t row = pass.layer_index * pass.engine.options.max_batch + text;
  const size_t index = row * pass.stack.config->num_heads + head;
  return pass.at<uint8_t>(cache.places + index * cache.head.bytes);
}

}  // namespace

HeadKeys self_keys(const Pass& pass, size_t task, const TextRows& text, size_t head) {
  const size_t count = text.past + text.length;
  if (!pass.causal) {
    HeadKeys keys = keys_at(pass.scratch<uint8_t>(task, pass.plan.keys), pass.plan.keys_plan, count,
                            pad_inputs(count));
    if (pass.input.key_mask != nullptr) keys.mask = pass.input.key_mask + text.begin;
    return keys;
  }
  const CachePlan& cache = pass.plan.cache;
  HeadKeys keys = keys_at(cached_place(pass, cache, text.text, head), cache.head, count,
                          pad_inputs(cache.tokens));
  keys.mask = pass.at<uint8_t>(cache.mask) + text.text * cache.tokens;
  return keys;
}

size_t source_length(const Pass& pass, const TextRows& text) {
  return pass.at<uint32_t>(pass.plan.source.lengths)[source_of(pass.engine, text.text)];
}

HeadKeys source_keys(const Pass& pass, const TextRows& text, size_t head) {
  const CachePlan& cache = pass.plan.source;
  const size_t source = source_of(pass.engine, text.text);
  const size_t count = source_length(pass, text);
  HeadKeys keys =
      keys_at(cached_place(pass, cache, source, head), cache.head, count, pad_inputs(count));
  keys.mask = pass.at<uint8_t>(cache.mask) + source * cache.tokens;
  return keys;
}

void remember_masks(const Pass& pass) {
  const CachePlan& cache = pass.plan.cache;
  for (TextRows text = first_text(pass); text.text < pass.input.batch;
       text = next_text(pass, text)) {
    uint8_t* mask = pass.at<uint8_t>(cache.mask) + text.text * cache.tokens + text.past;
    for (size_t i = 0; i < text.length; ++i) {
      mask[i] = pass.input.key_mask != nullptr ? pass.input.key_mask[text.begin + i] != 0 : 1;
    }
  }
}

void remember_tokens(const Pass& pass) {
  uint32_t* lengths = pass.at<uint32_t>(pass.plan.cache.lengths);
  for (size_t text = 0; text < pass.input.batch; ++text) lengths[text] += pass.input.lengths[text];
}

void clear_cache(Engine& engine) {
  const Plan plan = make_plan(*engine.model.header, last_stack(engine), engine.options);
  memset(engine.at<uint32_t>(plan.cache.lengths), 0, engine.options.max_batch * sizeof(uint32_t));
  engine.rows = 0;
}

}  // namespace embert
