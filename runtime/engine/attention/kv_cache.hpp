// SPDX-License-Identifier: Apache-2.0
// The KV cache: keys and values that stay in the arena from call to call. A decoder appends those
// of its own tokens; those that cross-attention reads are made once, from an encoder's states.
#pragma once

#include "runtime/engine/engine.hpp"

namespace embert {

/// Keys and values of one attention head over one text, wherever they lie.
struct KvView {
  int8_t* keys;         ///< n16k4 [N(capacity)] x [K(D)]
  int8_t* values;       ///< n16k4 [2 N(D)] x [value_inputs]
  int32_t* key_sums;    ///< [N(capacity)]
  int32_t* value_sums;  ///< [2 N(D)]
  size_t count;         ///< tokens that are attended
  size_t value_inputs;  ///< a multiple of 4, >= count
  const uint8_t* mask;  ///< [count], 0 hides; or null
};

/// The view of a slot, without a mask.
KvView view_slot(uint8_t* slot, const KvSlotPlan& plan, size_t count, size_t value_inputs);

struct KvSlot {
  size_t layer, text, head;
};

class KvCache {
 public:
  /// is_growing: tokens are appended, so rows of values are as long as the capacity. Otherwise each
  /// text is written once, and its rows of values are as long as the text.
  KvCache(Engine& engine, const KvCachePlan& plan, bool is_growing);

  uint32_t& length(size_t text) const { return engine_.at<uint32_t>(plan_.lengths)[text]; }
  KvView slot(const KvSlot& slot, size_t count) const;

  /// Writes the mask bytes of the next `count` tokens of a text; a null mask hides none. The caller
  /// adds the tokens to length() when their keys and values are there.
  void append_mask(size_t text, const uint8_t* mask, size_t count) const;
  /// Forgets all tokens of all texts.
  void clear() const;
  /// Keeps the first `length` tokens of a text.
  void truncate(size_t text, uint32_t length) const;
  /// Text i becomes a copy of text parents[i], i < batch. chunks: u8 [batch][kChunkBytes].
  void reorder(const uint32_t* parents, size_t batch, uint8_t* chunks) const;

 private:
  uint8_t* mask(size_t text) const;

  Engine& engine_;
  const KvCachePlan& plan_;
  const BlobStack& config_;
  bool is_growing_;
};

/// Keys and values of a decoder's own tokens.
static inline KvCache self_cache(Engine& engine) { return {engine, engine.plan.self, true}; }
/// Keys and values of the encoder states that cross-attention reads.
static inline KvCache source_cache(Engine& engine) { return {engine, engine.plan.source, false}; }

/// The source that a text attends: its own, or the only one.
static inline size_t source_of(const Engine& engine, size_t text) {
  return engine.source_texts == 1 ? 0 : text;
}

/// Empties a decoder's cache. The rows of the last call are no longer valid.
void clear_cache(Engine& engine);

}  // namespace embert
