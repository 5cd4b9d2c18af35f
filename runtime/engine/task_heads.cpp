// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/task_heads.hpp"

namespace embert {
namespace {

/// The pooled vector is tanh with scale 2^-12, times 7: that fills 16 bits and is exact to undo.
constexpr int32_t kPooledFactor = 7;
constexpr int32_t kTanhExponent = 12;

size_t hidden_size(const Buffers& buffers) { return last_config(buffers.engine).hidden_size; }

}  // namespace

void convert_to_planes(const Buffers& buffers, const Rows16& rows) {
  buffers.engine.kernels.convert_s8x2_s16(
      {.m = rows.m,
       .k = rows.k,
       .src = rows.data,
       .src_stride = rows.k,
       .dst = buffers.scratch<uint8_t>(0, buffers.plan.lhs),  // [2 m][lhs_stride]
       .dst_stride = buffers.plan.lhs_stride,
       .flip = kSignedLhsFlip});
}

const int32_t* dense16_sums(const Buffers& buffers, const Dense16& layer, const Rows16& rows,
                            ColumnRange columns) {
  const StackPlan& plan = buffers.plan;
  const Kernels& kernels = buffers.engine.kernels;
  const size_t inputs = pad_inputs(rows.k), acc_stride = plan.acc_columns;
  int32_t* acc = buffers.scratch<int32_t>(0, plan.acc);  // [2 m][acc_columns]
  kernels.gemm({.m = 2 * rows.m,
                .n = pad_columns(columns.count),
                .k = inputs,
                .lhs = buffers.scratch<uint8_t>(0, plan.lhs),
                .lhs_stride = plan.lhs_stride,
                .lhs_type = LhsType::kSigned,
                .rhs = layer.dense.weights + columns.first * inputs,
                .bias = nullptr,
                .sums = layer.dense.sums + columns.first,
                .dst = acc,
                .dst_stride = acc_stride});
  // In place: a joined row overwrites the first of its two planes' rows.
  kernels.convert_s32_s32x2({.m = rows.m,
                             .n = columns.count,
                             .acc = acc,
                             .acc_stride = acc_stride,
                             .join_shift = layer.join_shift,
                             .bias = layer.dense.bias + columns.first,
                             .dst = acc,
                             .dst_stride = 2 * acc_stride});
  return acc;
}

void pool_text(const Buffers& buffers, const int16_t* hidden, size_t length, BlobPooling pooling,
               int16_t* embedding) {
  const size_t size = hidden_size(buffers);
  int32_t* sums = buffers.scratch<int32_t>(0, buffers.plan.pool_sums);  // [H]
  for (size_t c = 0; c < size; ++c) sums[c] = hidden[c];
  for (size_t row = 1; row < length && pooling != kPoolingCls; ++row) {
    const int16_t* values = hidden + row * size;
    if (pooling == kPoolingMean) {
      for (size_t c = 0; c < size; ++c) sums[c] += values[c];
    } else {
      for (size_t c = 0; c < size; ++c) sums[c] = values[c] > sums[c] ? values[c] : sums[c];
    }
  }
  if (buffers.engine.model.header->normalize == 0) {
    const int64_t rows = pooling == kPoolingMean ? static_cast<int64_t>(length) : 1;
    for (size_t c = 0; c < size; ++c) {
      const int64_t doubled = int64_t{2} * sums[c] + rows;  // floor(sum / rows + 1/2)
      const int64_t quotient = doubled / (2 * rows), remainder = doubled % (2 * rows);
      embedding[c] = static_cast<int16_t>(quotient - (remainder < 0 ? 1 : 0));
    }
    return;
  }
  // Dividing by the number of rows would not change the unit vector. |sum| <= 2^24 and H <= 2^12,
  // so the sum of squares stays below 2^60.
  uint64_t squares = 0;
  for (size_t c = 0; c < size; ++c) {
    squares += static_cast<uint64_t>(int64_t{sums[c]} * sums[c]);
  }
  if (squares == 0) squares = 1;
  const Rsqrt r = rsqrt(squares);  // 1 / sqrt = y * 2^(h/2 - 60)
  for (size_t c = 0; c < size; ++c) {
    const int64_t value = shift_round(int64_t{sums[c]} * r.y_q30, 45 - r.h / 2);
    embedding[c] = static_cast<int16_t>(clamp<int64_t>(value, -32767, 32767));
  }
}

void pool_first_token(const Buffers& buffers, const int16_t* hidden, int16_t* pooled) {
  const Activation tanh = model_activation(kActivationTanh, kTanhExponent);
  const size_t size = hidden_size(buffers);
  dense16_rows(buffers, model_pooler(buffers.engine.model), {hidden, 1, size}, size,
               [&](size_t, size_t c, int32_t y) {
                 const int32_t u = activate(clamp<int32_t>(y, -32767, 32767), tanh);
                 pooled[c] = static_cast<int16_t>((u - (1 << kTanhExponent)) * kPooledFactor);
               });
}

void classify_pooled(const Buffers& buffers, const int16_t* pooled, int32_t* logits) {
  const Model& model = buffers.engine.model;
  dense16_rows(buffers, model_classifier(model), {pooled, 1, hidden_size(buffers)},
               model.header->num_labels, [&](size_t, size_t c, int32_t y) { logits[c] = y; });
}

void classify_tokens(const Buffers& buffers, const int16_t* hidden, size_t tokens,
                     int32_t* logits) {
  const Model& model = buffers.engine.model;
  const size_t labels = model.header->num_token_labels;
  dense16_rows(buffers, model_token_classifier(model), {hidden, tokens, hidden_size(buffers)},
               labels, [&](size_t i, size_t c, int32_t y) { logits[i * labels + c] = y; });
}

}  // namespace embert
