// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/attention/kv_cache.hpp"

#include <string.h>

#include "kernels/arithmetic/layout.hpp"

namespace embert {
namespace {

/// Keeps the first `length` tokens of a head's values: zeros behind them, and new sums.
void truncate_values(const KvView& view, size_t columns, size_t length) {
  for (size_t c = 0; c < columns; ++c) {
    int32_t sum = 0;
    for (size_t token = 0; token < pad_inputs(length); ++token) {
      int8_t& value = view.values[n16k4_index(c, token, view.value_inputs)];
      if (token >= length) value = 0;
      sum += value;
    }
    view.value_sums[c] = sum;
  }
}

/// One part a text, all of the same size, one after another.
struct Parts {
  uint8_t* data;  ///< [texts][bytes]
  size_t bytes;
};

/// Gathers the parts by parent index, chunk by chunk: the chunks of all parents are read before one
/// is written, so a parent may have any number of children and the gather works in place.
void gather_parts(const Parts& parts, const uint32_t* parents, size_t batch, uint8_t* chunks) {
  for (size_t at = 0; at < parts.bytes; at += kChunkBytes) {
    const size_t n = parts.bytes - at < kChunkBytes ? parts.bytes - at : kChunkBytes;
    for (size_t i = 0; i < batch; ++i) {
      memcpy(chunks + i * kChunkBytes, parts.data + parents[i] * parts.bytes + at, n);
    }
    for (size_t i = 0; i < batch; ++i) {
      memcpy(parts.data + i * parts.bytes + at, chunks + i * kChunkBytes, n);
    }
  }
}

}  // namespace

KvView view_slot(uint8_t* slot, const KvSlotPlan& plan, size_t count, size_t value_inputs) {
  KvView view = {};
  view.keys = reinterpret_cast<int8_t*>(slot + plan.keys);
  view.values = reinterpret_cast<int8_t*>(slot + plan.values);
  view.key_sums = reinterpret_cast<int32_t*>(slot + plan.key_sums);
  view.value_sums = reinterpret_cast<int32_t*>(slot + plan.value_sums);
  view.count = count;
  view.value_inputs = value_inputs;
  return view;
}

KvCache::KvCache(Engine& engine, const KvCachePlan& plan, bool is_growing)
    : engine_(engine), plan_(plan), config_(last_config(engine)), is_growing_(is_growing) {}

uint8_t* KvCache::mask(size_t text) const {
  return engine_.at<uint8_t>(plan_.mask) + text * plan_.capacity;
}

KvView KvCache::slot(const KvSlot& slot, size_t count) const {
  const size_t row = slot.layer * engine_.options.max_batch + slot.text;
  const size_t index = row * config_.num_heads + slot.head;
  KvView view = view_slot(engine_.at<uint8_t>(plan_.slots + index * plan_.slot.bytes), plan_.slot,
                          count, pad_inputs(is_growing_ ? plan_.capacity : count));
  view.mask = mask(slot.text);
  return view;
}

void KvCache::append_mask(size_t text, const uint8_t* mask, size_t count) const {
  uint8_t* bytes = this->mask(text) + length(text);
  for (size_t i = 0; i < count; ++i) bytes[i] = mask != nullptr ? mask[i] != 0 : 1;
}

void KvCache::clear() const { memset(&length(0), 0, engine_.options.max_batch * sizeof(uint32_t)); }

void KvCache::truncate(size_t text, uint32_t new_length) const {
  length(text) = new_length;
  const size_t columns = 2 * pad_columns(config_.head_size);
  for (size_t layer = 0; layer < config_.num_layers; ++layer) {
    for (size_t head = 0; head < config_.num_heads; ++head) {
      truncate_values(slot({layer, text, head}, new_length), columns, new_length);
    }
  }
}

void KvCache::reorder(const uint32_t* parents, size_t batch, uint8_t* chunks) const {
  gather_parts({engine_.at<uint8_t>(plan_.lengths), sizeof(uint32_t)}, parents, batch, chunks);
  gather_parts({mask(0), plan_.capacity}, parents, batch, chunks);
  const size_t text_bytes = static_cast<size_t>(config_.num_heads * plan_.slot.bytes);
  uint8_t* of_layer = engine_.at<uint8_t>(plan_.slots);  // [batch][heads] slots
  for (size_t layer = 0; layer < config_.num_layers; ++layer) {
    gather_parts({of_layer, text_bytes}, parents, batch, chunks);
    of_layer += engine_.options.max_batch * text_bytes;
  }
}

void clear_cache(Engine& engine) {
  self_cache(engine).clear();
  engine.rows = 0;
}

}  // namespace embert
