// SPDX-License-Identifier: Apache-2.0
// Generation, token by token: shared by greedy decoding, sampling and beam search.
#pragma once

#include "embert/embert_lm.h"

namespace embert {

/// A checked call of embert_generate. The search uses the engine's public functions only.
struct Prompt {
  embert_engine* engine;
  const embert_generate_options& options;
  const int32_t* ids;  ///< [length]
  uint32_t length;
  uint32_t most_new;      ///< most tokens to generate: max_new_tokens, or the room in the cache
  embert_finish at_most;  ///< why generation ends there
};

/// Runs the decoder: appends lengths[i] of the ids, which follow one another, to text i < texts.
embert_status append_tokens(embert_engine* engine, const int32_t* ids, const uint32_t* lengths,
                            uint32_t texts);

/// Bytes of the workspace of a beam search.
size_t beam_bytes(const embert_generate_options& options);
/// workspace is 8-byte aligned.
embert_status search_beams(const Prompt& prompt, void* workspace, embert_generation* generation);

}  // namespace embert
