// SPDX-License-Identifier: Apache-2.0
// Contract of the product with a row-major table: a few 8-bit rows with every row of a table that
// is read in place, such as the word embeddings as weights of a language model's logits.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace embert {

/// dst[i][j] = sum over c of lhs[i][c] * rhs[j][c], exact. Nothing needs alignment or padding, and
/// nothing outside the extents is read.
struct DotRowsArgs {
  size_t m, n, k;     ///< rows of lhs, rows of rhs, columns of both (1..4096)
  const int8_t* lhs;  ///< [m][k], plain signed bytes on every processor
  size_t lhs_stride;  ///< bytes
  const int8_t* rhs;  ///< [n][k]
  size_t rhs_stride;  ///< bytes
  int32_t* dst;       ///< [m][n], overlaps no input
  size_t dst_stride;  ///< elements
};
using DotRowsFn = void (*)(const DotRowsArgs&);

}  // namespace embert
