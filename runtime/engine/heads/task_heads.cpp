// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/heads/task_heads.hpp"

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
