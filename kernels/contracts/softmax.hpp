// SPDX-License-Identifier: Apache-2.0
// Contract of the softmax (Vaswani et al. 2017, eq. 1): scores to unnormalised 8-bit exponentials,
// and the reciprocal of each row's exact sum. The row's maximum is always 255; the division happens
// after the product with the values (join_planes), so nothing is lost to small probabilities.
#pragma once

#include "kernels/arithmetic/fixed_point.hpp"
#include "kernels/processor.hpp"

namespace embert {

/// e[i][j] = exp2_u8(exp2_index(min(max_j s[i][j] - s[i][j], score_cap), score_multiplier)) for
/// j < n; dst[i][j] = e ^ kUnsignedLhsFlip, bytes from n to pad_inputs(n) hold zero (flipped).
/// row[i] = reciprocal(sum_j e[i][j]). Masked scores beside others give e = 0; a row of masked
/// scores only gives 255 everywhere.
struct SoftmaxArgs {
  size_t m, n;            ///< queries, valid keys (>= 1)
  const int32_t* scores;  ///< [m][n], |s| < kScoreBound or s = kMaskedScore (attention_scores.hpp),
                          ///< rows 64-byte aligned and readable to pad_columns(n)
  size_t scores_stride;   ///< elements
  uint32_t score_multiplier;  ///< log2(e) * 64 * 2^22 * step of a score, in 1..2^31
  int32_t score_cap;          ///< kExpEnd * 2^22 <= score_cap * score_multiplier + 2^21 < 2^32
  uint8_t* dst;  ///< [m][pad_inputs(n)]; may be scores itself with dst_stride = 4 * scores_stride
  size_t dst_stride;  ///< bytes
  Reciprocal* row;    ///< [m]
};
using SoftmaxFn = void (*)(const SoftmaxArgs&);

}  // namespace embert
