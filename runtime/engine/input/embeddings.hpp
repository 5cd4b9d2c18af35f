// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/engine/run.hpp"

namespace embert {

struct TokenEmbedding {
  size_t id;
  const int16_t* position;  ///< [W]
  const int16_t* segment;   ///< [W], null for segment 0
  int16_t* dst;             ///< [W]
};
/// dst = embedding sum of one token; before a word projection, of the word and a row of zeros.
void embed_token(const Kernels& kernels, const Stack& stack, const TokenEmbedding& token);

/// residual = embeddings of the rows: the sum of word, position and segment, or its projection
/// to the hidden size.
void embed_rows(const Run& run, const TaskRows& rows);

}  // namespace embert
