// SPDX-License-Identifier: Apache-2.0
// Contracts of the softmax (Vaswani et al. 2017, eq. 1): scores to unnormalised exponentials of 8
// or 14 bits and the reciprocal of each row's exact sum. The row's maximum is always 255 or 16320.
// The division follows the product with the values (join_planes), so small probabilities lose
// nothing. The probabilities themselves are an output of their own.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/arithmetic/fixed_point.hpp"

namespace embert {

/// e[i][j] = exp2_u8(exp2_index(min(max_j s[i][j] - s[i][j], score_cap), score_multiplier)) for j <
/// n. dst[i][j] = e[i][j] ^ kUnsignedLhsFlip; bytes from n to pad_inputs(n) hold kUnsignedLhsFlip,
/// which stands for zero. row[i] = reciprocal(sum over j of e[i][j]). A masked score beside others
/// gives e = 0; a row of masked scores only gives 255 everywhere.
struct SoftmaxArgs {
  size_t m, n;                ///< queries, valid keys (>= 1)
  const int32_t* scores;      ///< [m][n], |s| < kScoreBound or s = kMaskedScore (scores.hpp); rows
                              ///< 64-byte aligned and readable to pad_columns(n)
  size_t scores_stride;       ///< elements
  uint32_t score_multiplier;  ///< log2(e) * 64 * 2^22 * scale of the scores, in 1..2^31
  int32_t score_cap;          ///< kExpEnd * 2^22 <= score_cap * score_multiplier + 2^21 < 2^32
  uint8_t* dst;       ///< [m][pad_inputs(n)]; may be scores with dst_stride = 4 * scores_stride
  size_t dst_stride;  ///< bytes
  Reciprocal* row;    ///< [m]
};
using SoftmaxFn = void (*)(const SoftmaxArgs&);

/// softmax_u8x2: exponentials of 14 bits as two planes of 8, for two rows of the GEMM. With e[i][j]
/// = exp2_u14(the same index), dst[2 i][j] = e >> 8 ^ kUnsignedLhsFlip and dst[2 i + 1][j] = (e &
/// 255) ^ kUnsignedLhsFlip; bytes from n to pad_inputs(n) and row[i] as above. dst is
/// [2 m][pad_inputs(n)] and overlaps no score; kExp14End * 2^22 <= score_cap * score_multiplier +
/// 2^21 (score_cap_u14). A row of masked scores only gives 16320 everywhere.
using SoftmaxU8x2Fn = void (*)(const SoftmaxArgs&);

/// Probabilities in Q15: dst[i][j] = min(RS(e * row[i].value, 16 + row[i].z), 65535) for the
/// exponential e of softmax or, with two planes, of softmax_u8x2.
struct AttentionProbabilitiesArgs {
  size_t m, n;                  ///< queries, keys
  size_t planes;                ///< 1 or 2
  const uint8_t* exponentials;  ///< [planes * m][n], as the softmax wrote them
  size_t exponentials_stride;   ///< bytes
  const Reciprocal* row;        ///< [m] of the softmax, possibly times a head's factor of at most 2
  uint16_t* dst;                ///< [m][n], overlaps no exponential
  size_t dst_stride;            ///< elements
};
using AttentionProbabilitiesFn = void (*)(const AttentionProbabilitiesArgs&);

}  // namespace embert
