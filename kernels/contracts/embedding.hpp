// SPDX-License-Identifier: Apache-2.0
// Contract of the embedding sum (Devlin et al. 2018, figure 2): word + position + segment, one
// token a call.
#pragma once

#include "kernels/arithmetic/fixed_point.hpp"

namespace embert {

/// dst[c] = sat16(RS(word[c] * multiplier, 16) + position[c] + segment[c]).
struct EmbeddingArgs {
  size_t n;
  const int8_t* word;       ///< [n], the token's row
  int32_t multiplier;       ///< in 0..16909320 (times 127 below 2^31)
  const int16_t* position;  ///< [n], with the row of segment 0 added
  const int16_t* segment;   ///< [n], difference to segment 0, or null for segment 0
  int16_t* dst;             ///< [n]
};
using EmbeddingFn = void (*)(const EmbeddingArgs&);

/// The same sum for a vector that the caller gives in place of a word: dst[c] = sat16(RS(src[c] *
/// multiplier, 16) + position[c] + segment[c]).
struct EmbeddingVectorArgs {
  size_t n;
  const int16_t* src;       ///< [n]
  int32_t multiplier;       ///< >= 0
  const int16_t* position;  ///< [n], as above
  const int16_t* segment;   ///< [n] or null, as above
  int16_t* dst;             ///< [n]; may be src
};
using EmbeddingVectorFn = void (*)(const EmbeddingVectorArgs&);

}  // namespace embert
