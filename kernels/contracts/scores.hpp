// SPDX-License-Identifier: Apache-2.0
// Contracts of what attention does to its scores beside the softmax: relative positions (Shaw et
// al. 2018, eq. 4; Huang et al. 2020, method 4) and masks. And the probabilities as an output.
#pragma once

#include <stddef.h>

#include "kernels/arithmetic/fixed_point.hpp"
#include "kernels/processor.hpp"

namespace embert {

/// One term of a relative position: scores[i][j] = relative_score(scores[i][j], products[i *
/// row_step
/// + j * col_step], ...). The steps walk along the diagonals of what a GEMM gave with row stride s.
/// Where the query's row holds distance j - i in column c + j - i, they are s - 1 and 1; where the
/// key's row does, -1 and s + 1; products is then c columns into it.
struct AddRelativePositionsArgs {
  size_t m, n;
  const int32_t* products;       ///< of (0, 0); no overlap with scores
  ptrdiff_t row_step, col_step;  ///< elements, magnitude below 2^24
  int32_t multiplier;            ///< with the shifts as in Requantize
  int32_t left, right;
  int32_t* scores;       ///< [m][n], |s| < kScoreBound: not masked yet
  size_t scores_stride;  ///< elements
};
using AddRelativePositionsFn = void (*)(const AddRelativePositionsArgs&);

/// A hidden key's score: so far below every other that its exponential is 0 (softmax.hpp).
static constexpr int32_t kMaskedScore = -(1 << 30);

/// How many of n keys a row may see when row 0 may see the first visible ones, and each row one
/// more.
static constexpr size_t causal_reach(size_t n, size_t visible, size_t row) {
  return visible < n && row < n - visible ? visible + row : n;
}

/// Row i may see the keys below causal_reach(n, visible, i). Of these, it sees key j if
/// key_mask[j], pair_mask[i][j] and query_mask[i], as far as they are given, are all not 0. The
/// scores of all other keys become kMaskedScore. A row that sees no key attends evenly to all that
/// it may see: their scores become 0. Scores of seen keys stay.
struct MaskScoresArgs {
  size_t m, n;
  int32_t* scores;            ///< [m][n]
  size_t scores_stride;       ///< elements
  size_t visible;             ///< of row 0, >= 1; n or more: no causal limit
  const uint8_t* key_mask;    ///< [n] or null
  const uint8_t* pair_mask;   ///< [m][n] or null
  size_t pair_stride;         ///< bytes
  const uint8_t* query_mask;  ///< [m] or null
};
using MaskScoresFn = void (*)(const MaskScoresArgs&);

/// Probabilities in units of 2^-15: dst[i][j] = RS(e * row[i].value, 16 + row[i].z) for the
/// softmax's exponential e, but at most 65535.
struct AttentionProbabilitiesArgs {
  size_t m, n;
  const uint8_t* exponentials;  ///< [m][n], e ^ kUnsignedLhsFlip
  size_t exponentials_stride;   ///< bytes
  const Reciprocal* row;        ///< [m], of the softmax, or times a head's factor up to 2
  uint16_t* dst;                ///< [m][n], no overlap with exponentials
  size_t dst_stride;            ///< elements
};
using AttentionProbabilitiesFn = void (*)(const AttentionProbabilitiesArgs&);

}  // namespace embert
