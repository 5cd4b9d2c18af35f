// SPDX-License-Identifier: Apache-2.0
// The task heads on the last hidden state: pooler and classifiers. The caller's thread computes
// them, in the scratch of task 0.
#pragma once

#include "kernels/arithmetic/layout.hpp"
#include "runtime/engine/engine.hpp"

namespace embert {

/// The input of a dense layer on 16-bit rows.
struct Rows16 {
  const int16_t* data;  ///< [m][k]
  size_t m, k;
  size_t task = 0;  ///< whose scratch takes planes and sums
};

struct ColumnRange {
  size_t first, count;
};

/// Rows as the GEMM reads them: each as two planes of 8 bits, in the task's scratch.
/// m <= kBlockRows / 2.
void convert_to_planes(const Buffers& buffers, const Rows16& rows);
/// The converted rows through some columns of a dense layer, bias included: s32 [m][count], with a
/// stride of 2 * acc_columns, in the task's scratch.
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
    const Rows16 block = {rows.data + row * rows.k, m, rows.k, rows.task};
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

/// Rows through a head's transform of n outputs, which is not empty: dst s16 [m][n], which may be
/// rows.data where m = 1. m <= kBlockRows / 2.
void transform_rows(const Buffers& buffers, const HeadTransform& head, const Rows16& rows, size_t n,
                    int16_t* dst);

/// The token classifier on rows of the last hidden state: calls store(i, label, logit).
template <typename Store>
void token_logits(const Buffers& buffers, const Rows16& rows, Store store) {
  const Model& model = buffers.engine.model;
  const HeadTransform transform = model_token_transform(model);
  const Dense16 classifier = model_token_classifier(model);
  const size_t labels = model.header->num_token_labels;
  if (transform.dense.dense.weights == nullptr) {
    return dense16_rows(buffers, classifier, rows, labels, store);
  }
  int16_t* made = buffers.scratch<int16_t>(0, buffers.plan.row);  // [kBlockRows / 2][H]
  for (size_t row = 0; row < rows.m; row += kBlockRows / 2) {
    const size_t left = rows.m - row, m = left < kBlockRows / 2 ? left : kBlockRows / 2;
    transform_rows(buffers, transform, {rows.data + row * rows.k, m, rows.k}, rows.k, made);
    dense16_rows(buffers, classifier, {made, m, rows.k}, labels,
                 [&](size_t i, size_t c, int32_t y) { store(row + i, c, y); });
  }
}

/// The tokens of a text that the pooled vector may read.
struct PooledText {
  const int16_t* hidden;    ///< [length][H]
  size_t length;            ///< not read where the first token is enough
  const uint8_t* key_mask;  ///< [length], 0 hides a token; null: all are there
};
/// The pooled vector of a text, as the model makes it: s16 [H].
void pool_head(const Buffers& buffers, const PooledText& text, int16_t* pooled);

/// Logits of a text from its pooled vector s16 [H]: s32 [num_labels].
void classify_pooled(const Buffers& buffers, const int16_t* pooled, int32_t* logits);

/// Logits of each token: hidden s16 [tokens][H] -> s32 [tokens][num_token_labels].
void classify_tokens(const Buffers& buffers, const int16_t* hidden, size_t tokens, int32_t* logits);

}  // namespace embert
