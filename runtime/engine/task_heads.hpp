// SPDX-License-Identifier: Apache-2.0
// The task heads on the last hidden state: pooling, pooler and classifiers. The caller's thread
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

/// Rows through a dense layer of n columns: calls store(i, c, y) with the requantised sum y of row
/// i, column c < n. The GEMM reads each row as two planes of 8 bits.
template <typename Store>
void dense16_rows(const Buffers& buffers, const Dense16& layer, const Rows16& rows, size_t n,
                  Store store) {
  const StackPlan& plan = buffers.plan;
  const Kernels& kernels = buffers.engine.kernels;
  const size_t inputs = pad_inputs(rows.k), acc_stride = plan.acc_columns;
  uint8_t* planes = buffers.scratch<uint8_t>(0, plan.lhs);  // [2 rows][lhs_stride]
  int32_t* acc = buffers.scratch<int32_t>(0, plan.acc);     // [2 rows][acc_columns]
  for (size_t row = 0; row < rows.m; row += kBlockRows / 2) {
    const size_t left = rows.m - row, count = left < kBlockRows / 2 ? left : kBlockRows / 2;
    kernels.convert_s8x2_s16({.m = count,
                              .k = rows.k,
                              .src = rows.data + row * rows.k,
                              .src_stride = rows.k,
                              .dst = planes,
                              .dst_stride = plan.lhs_stride,
                              .flip = kSignedLhsFlip});
    for (size_t column = 0; column < n; column += kGemmColumns) {
      const size_t columns = n - column < kGemmColumns ? n - column : kGemmColumns;
      kernels.gemm({.m = 2 * count,
                    .n = pad_columns(columns),
                    .k = inputs,
                    .lhs = planes,
                    .lhs_stride = plan.lhs_stride,
                    .lhs_type = LhsType::kSigned,
                    .rhs = layer.dense.weights + column * inputs,
                    .bias = nullptr,
                    .sums = layer.dense.sums + column,
                    .dst = acc,
                    .dst_stride = acc_stride});
      kernels.convert_s32_s32x2({.m = count,
                                 .n = columns,
                                 .acc = acc,
                                 .acc_stride = acc_stride,
                                 .join_shift = layer.join_shift,
                                 .bias = layer.dense.bias + column,
                                 .dst = acc,
                                 .dst_stride = 2 * acc_stride});
      for (size_t i = 0; i < count; ++i) {
        const int32_t* sums = acc + 2 * i * acc_stride;
        for (size_t c = 0; c < columns; ++c) {
          store(row + i, column + c,
                requantize(sums[c], layer.dense.factor.multiplier[column + c],
                           layer.dense.factor.left, layer.dense.factor.right));
        }
      }
    }
  }
}

/// One vector of a text: hidden s16 [length][H] -> embedding s16 [H]. It has length 1 (scale 2^-15)
/// where the model normalises, else the hidden state's scale.
void pool_text(const Buffers& buffers, const int16_t* hidden, size_t length, BlobPooling pooling,
               int16_t* embedding);

/// tanh of the pooler's dense layer over the first token: hidden s16 [H] -> pooled s16 [H].
void pool_first_token(const Buffers& buffers, const int16_t* hidden, int16_t* pooled);

/// Logits of a text from its pooled vector s16 [H]: s32 [num_labels].
void classify_pooled(const Buffers& buffers, const int16_t* pooled, int32_t* logits);

/// Logits of each token: hidden s16 [tokens][H] -> s32 [tokens][num_token_labels].
void classify_tokens(const Buffers& buffers, const int16_t* hidden, size_t tokens, int32_t* logits);

}  // namespace embert
