// SPDX-License-Identifier: Apache-2.0
// Where a head finds its keys and values: made for this pass, kept in a decoder's cache, or made
// once from an encoder's states.
#pragma once

#include "runtime/engine/run.hpp"

namespace embert {

struct HeadKeys {
  int8_t* key;          ///< n16k4 [N(capacity)] x [K(D)]
  int8_t* value;        ///< n16k4 [2 N(D)] x [value_inputs]
  int32_t* key_sums;    ///< [N(capacity)]
  int32_t* value_sums;  ///< [2 N(D)]
  size_t count;         ///< tokens that are attended
  size_t value_inputs;  ///< a multiple of 4, >= count
  const uint8_t* mask;  ///< [count], 0 hides; or null
};

/// Of a text's own tokens, those in the cache and those of this call.
HeadKeys self_keys(const Pass& pass, size_t task, const TextRows& text, size_t head);
/// Tokens of the source that the text attends.
size_t source_length(const Pass& pass, const TextRows& text);
/// Of the encoder states that the text attends.
HeadKeys source_keys(const Pass& pass, const TextRows& text, size_t head);

/// After a pass of a decoder: its tokens are in the cache. Before it, their mask bytes are put
/// there.
void remember_masks(const Pass& pass);
void remember_tokens(const Pass& pass);

/// No text has a token in the cache.
void clear_cache(Engine& engine);

/// Which source a text of this call attends: its own, or the only one.
static inline size_t source_of(const Engine& engine, size_t text) {
  return engine.source_texts == 1 ? 0 : text;
}

}  // namespace embert
