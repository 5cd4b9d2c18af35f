// SPDX-License-Identifier: Apache-2.0
// Text that goes on, word by word: what greedy decoding, sampling and beam search share.
#pragma once

#include "embert/embert_lm.h"

namespace embert {

/// A checked call of embert_generate. It works on the engine through its public functions.
struct Prompt {
  embert_engine* engine;
  const embert_generate_options& options;
  const int32_t* ids;  ///< [length]
  uint32_t length;
  uint32_t most_new;  ///< tokens that may follow: max_new_tokens, or what the cache has room for
  embert_finish at_most;  ///< what it is called to have reached that
};

/// Text i goes on with ids [length] of its own, i < texts.
embert_status append_tokens(embert_engine* engine, const int32_t* ids, const uint32_t* lengths,
                            uint32_t texts);

/// The workspace of a beam search, and the search in it: 8-byte aligned.
size_t beam_bytes(const embert_generate_options& options);
embert_status search_beams(const Prompt& prompt, void* workspace, embert_generation* generation);

}  // namespace embert
