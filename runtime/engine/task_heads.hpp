// SPDX-License-Identifier: Apache-2.0
// What stands on the last hidden state of a pass: pooling, pooler and classifiers.
#pragma once

#include "runtime/engine/run.hpp"

namespace embert {

/// 16-bit rows s16 [m][k] through a dense layer, in two planes: store(i, c, y) gets what the factor
/// makes of the sum of row i, column c < n.
template <typename Store>
void dense_rows(const Pass& pass, const Dense16& head, const int16_t* rows, size_t m, size_t k,
                size_t n, Store store) {
  const Plan& plan = pass.plan;
  const Kernels& kernels = pass.engine.kernels;
  const size_t inputs = pad_inputs(k);
  uint8_t* planes = pass.scratch<uint8_t>(0, plan.lhs);  // [2 rows][lhs_stride]
  int32_t* acc = pass.scratch<int32_t>(0, plan.acc);     // [2 rows][acc_columns]
  for (size_t row = 0; row < m; row += kBlockRows / 2) {
    const size_t count = smaller(kBlockRows / 2, m - row);
    kernels.convert_s8x2_s16(
        {count, k, rows + row * k, k, planes, plan.lhs_stride, kSignedLhsFlip});
    for (size_t column = 0; column < n; column += kGemmColumns) {
      const size_t columns = smaller(kGemmColumns, n - column);
      kernels.gemm({2 * count, pad_columns(columns), inputs, planes, plan.lhs_stride,
                    LhsType::kSigned, head.dense.weights + column * inputs, nullptr,
                    head.dense.sums + column, acc, plan.acc_columns});
      kernels.convert_s32_s32x2({count, columns, acc, plan.acc_columns, head.join_shift,
                                 head.dense.bias + column, acc, 2 * size_t{plan.acc_columns}});
      for (size_t i = 0; i < count; ++i) {
        const int32_t* sums = acc + 2 * i * plan.acc_columns;
        for (size_t c = 0; c < columns; ++c) {
          store(row + i, column + c,
                requantize(sums[c], head.dense.factor.multiplier[column + c],
                           head.dense.factor.left, head.dense.factor.right));
        }
      }
    }
  }
}

/// One vector of a text: hidden s16 [length][H] -> embedding s16 [H]. Of length 1 (step 2^-15)
/// where the model normalises, else in the hidden state's step. pooling: BlobPooling.
void pool_text(const Pass& pass, const int16_t* hidden, size_t length, uint32_t pooling,
               int16_t* embedding);

/// tanh of the pooler's dense layer over the first token: hidden s16 [H] -> pooled s16 [H].
void pool_first_token(const Pass& pass, const int16_t* hidden, int16_t* pooled);

/// Logits of a text from its pooled vector s16 [H]: s32 [num_labels].
void classify_pooled(const Pass& pass, const int16_t* pooled, int32_t* logits);

/// Logits of each token: hidden s16 [tokens][H] -> s32 [tokens][num_token_labels].
void classify_tokens(const Pass& pass, const int16_t* hidden, size_t tokens, int32_t* logits);

}  // namespace embert
