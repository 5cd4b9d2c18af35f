// SPDX-License-Identifier: Apache-2.0
// Contracts of the embedding sum (Devlin et al. 2018, figure 2): word + position + segment, one
// token a call.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/arithmetic/fixed_point.hpp"
#include "kernels/arithmetic/word_4bit.hpp"

namespace embert {

/// dst[c] = embedding_value(word[c], multiplier, position[c], segment[c]). dst overlaps no input.
struct EmbeddingArgs {
  size_t n;                 ///< hidden size
  const int8_t* word;       ///< [n], the token's row of the table
  int32_t multiplier;       ///< the row's scale, in 0..16909320 (times 127 below 2^31)
  const int16_t* position;  ///< [n], with the row of segment 0 added
  const int16_t* segment;   ///< [n], difference to segment 0, or null for segment 0
  int16_t* dst;             ///< [n]
};
using EmbeddingFn = void (*)(const EmbeddingArgs&);

/// EmbeddingArgs' sum with a row of 4 bits a value (kernels/arithmetic/word_4bit.hpp): dst[c] =
/// embedding_value(level, scale * multiplier, position[c], segment[c]). The whole row is read.
struct Embedding4BitArgs {
  size_t n;                 ///< hidden size
  const int8_t* levels;     ///< [16] in -127..127
  const uint8_t* row;       ///< [word_row_bytes(n)], the token's row of the table
  int32_t multiplier;       ///< the row's scale, in 0..2^17 (times -128 x 127 below 2^31)
  const int16_t* position;  ///< [n], as above
  const int16_t* segment;   ///< [n] or null, as above
  int16_t* dst;             ///< [n]
};
using Embedding4BitFn = void (*)(const Embedding4BitArgs&);

/// The same sum with a vector that the caller gives in place of a word's row.
struct EmbeddingVectorArgs {
  size_t n;                 ///< hidden size
  const int16_t* src;       ///< [n]
  int32_t multiplier;       ///< >= 0
  const int16_t* position;  ///< [n], as above
  const int16_t* segment;   ///< [n] or null, as above
  int16_t* dst;             ///< [n]; may be src
};
using EmbeddingVectorFn = void (*)(const EmbeddingVectorArgs&);

}  // namespace embert
