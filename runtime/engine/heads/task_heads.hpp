// SPDX-License-Identifier: Apache-2.0
// The task heads on the last hidden state: pooler and classifiers. The caller's thread
// computes them, in the scratch of task 0.
#pragma once

#include "kernels/arithmetic/layout.hpp"
#include "runtime/engine/engine.hpp"

namespace embert {

/// The input of a dense layer on 16-bit rows.
struct Rows16 {
  const int16_t* data;  ///< [m][k]
  size_t m, k;
};

struct ColumnRange {
  size_t first, count;
};

/// Rows as the GEMM reads them: each as two planes of 8 bits, in the scratch of task 0.
/// m <= kBlockRows / 2.
void convert_to_planes(const Buffers& buffers, const Rows16& rows);
/// The converted rows through some columns of a dense layer, bias included: s32 [m][count], with a
/// stride of 2 * acc_columns, in the scratch of task 0.
const int32_t* dense16_sums(const Buffers& buffers, const Dense16& layer, const Rows16& rows,
                            ColumnRange columns);

/// Rows through a dense layer of n columns: calls store(i, c, y) with the requantised sum y of row
/// i, column c < n.
template <typename Store>
void dense16_rows(const Buffers& buffers, const Dense16& layer, const Rows16& rows, size_t n,
                  Store store) {
  const Requantize& factor = layer.dense.factor;
  const size_t stride = size_t{2} * buffers.plan.acc_columns;
  for (size_t row = 0; row < rows.m; row += kBlockRows / 2) {
    const size_t left = rows.m - row, m = left < kBlockRows / 2 ? left : kBlockRows / 2;
    const Rows16 block = {rows.data + row * rows.k, m, rows.k};
    convert_to_planes(buffers, block);
    for (size_t column = 0; column < n; column += kGemmColumns) {
      const size_t count = n - column < kGemmColumns ? n - column : kGemmColumns;
      const int32_t* sums = dense16_sums(buffers, layer, block, {column, count});
      for (size_t i = 0; i < m; ++i) {
        for (size_t c = 0; c < count; ++c) {
          store(row + i, column + c,
                requantize(sums[i * stride + c], factor.multiplier[column + c], factor.left,
                           factor.right));
        }
      }
    }
  }
}

/// tanh of the pooler's dense layer over the first token: hidden s16 [H] -> pooled s16 [H].
void pool_first_token(const Buffers& buffers, const int16_t* hidden, int16_t* pooled);

/// Logits of a text from its pooled vector s16 [H]: s32 [num_labels].
void classify_pooled(const Buffers& buffers, const int16_t* pooled, int32_t* logits);

/// Logits of each token: hidden s16 [tokens][H] -> s32 [tokens][num_token_labels].
void classify_tokens(const Buffers& buffers, const int16_t* hidden, size_t tokens, int32_t* logits);

}  // namespace embert
