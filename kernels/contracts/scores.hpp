// SPDX-License-Identifier: Apache-2.0
// Contracts of the changes that attention makes to its scores before the softmax: relative
// positions (Shaw et al. 2018, eq. 4; Huang et al. 2020, method 4), local attention and masks.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/arithmetic/fixed_point.hpp"

namespace embert {

/// Adds one term of a relative position: scores[i][j] = relative_score(scores[i][j], products[i *
/// row_step + j * col_step], multiplier, left, right).
///
/// The products are the result of a GEMM with row stride s, read along its diagonals:
/// - products of queries: row i holds the relative position j - i in column c + j - i; then
///   row_step = s - 1 and col_step = 1;
/// - products of keys: row j holds it there; then row_step = -1 and col_step = s + 1.
/// - a bias that is the same for all queries: one row; then row_step = -1 and col_step = 1.
/// In all cases products points to column c of row 0.
struct AddRelativePositionsArgs {
  size_t m, n;                   ///< queries, keys
  const int32_t* products;       ///< of query 0 and key 0; overlaps no score
  ptrdiff_t row_step, col_step;  ///< elements, magnitude below 2^24
  int32_t multiplier;            ///< of all products; with left and right as in Requantize
  int32_t left, right;
  int32_t* scores;       ///< [m][n], |s| < kScoreBound: not masked yet
  size_t scores_stride;  ///< elements
};
using AddRelativePositionsFn = void (*)(const AddRelativePositionsArgs&);

/// Score of a masked key, so far below all others that its exponential is 0 (softmax.hpp).
static constexpr int32_t kMaskedScore = -(1 << 30);

/// The keys that causality leaves to a row, of n: row 0 may see the first visible ones, each
/// further row one more.
static constexpr size_t causal_reach(size_t n, size_t visible, size_t row) {
  return visible < n && row < n - visible ? visible + row : n;
}

/// Row i sees key j if j < causal_reach(n, visible, i) and if key_mask[j], pair_mask[i][j] and
/// query_mask[i] are all nonzero, a null mask being all ones. Scores of seen keys stay; all others
/// become kMaskedScore. A row that sees no key attends evenly to the keys below its causal_reach:
/// their scores become 0.
struct MaskScoresArgs {
  size_t m, n;                ///< queries, keys
  int32_t* scores;            ///< [m][n]
  size_t scores_stride;       ///< elements
  size_t visible;             ///< keys that row 0 may see, >= 1; n or more: no causal limit
  const uint8_t* key_mask;    ///< [n] or null
  const uint8_t* pair_mask;   ///< [m][n] or null
  size_t pair_stride;         ///< bytes
  const uint8_t* query_mask;  ///< [m] or null
};
using MaskScoresFn = void (*)(const MaskScoresArgs&);

/// Local attention (Beltagy et al. 2020, section 3.1): scores[i][j] = kMaskedScore where the
/// distance of key j to query i, |diagonal + i - j|, is above reach. Runs before mask_scores.
struct MaskDistantArgs {
  size_t m, n;           ///< queries, keys
  int32_t* scores;       ///< [m][n]
  size_t scores_stride;  ///< elements
  size_t diagonal;       ///< the column of query 0's own key
  size_t reach;          ///< largest distance that a query sees
};
using MaskDistantFn = void (*)(const MaskDistantArgs&);

}  // namespace embert
