// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/heads/task_heads.hpp"

namespace embert {
namespace {

size_t hidden_size(const Buffers& buffers) { return last_config(buffers.engine).hidden_size; }

/// floor(sum / count + 1/2)
int16_t rounded_mean(int32_t sum, int64_t count) {
  const int64_t doubled = int64_t{2} * sum + count;
  const int64_t quotient = doubled / (2 * count), remainder = doubled % (2 * count);
  return static_cast<int16_t>(quotient - (remainder < 0 ? 1 : 0));
}

/// The mean of the visible tokens, of all where none is visible: mean s16 [H].
void mean_of_tokens(const Buffers& buffers, const PooledText& text, int16_t* mean) {
  const size_t size = hidden_size(buffers);
  int32_t* sums = buffers.scratch<int32_t>(0, buffers.plan.pool_sums);  // [H]
  size_t visible = 0;
  for (size_t i = 0; text.key_mask != nullptr && i < text.length; ++i) {
    visible += text.key_mask[i] != 0;
  }
  const bool all = visible == 0;
  for (size_t c = 0; c < size; ++c) sums[c] = 0;
  for (size_t i = 0; i < text.length; ++i) {
    if (!all && text.key_mask[i] == 0) continue;
    for (size_t c = 0; c < size; ++c) sums[c] += text.hidden[i * size + c];
  }
  const int64_t count = static_cast<int64_t>(all ? text.length : visible);
  for (size_t c = 0; c < size; ++c) mean[c] = rounded_mean(sums[c], count);
}

}  // namespace

void convert_to_planes(const Buffers& buffers, const Rows16& rows) {
  buffers.engine.kernels.convert_s8x2_s16(
      {.m = rows.m,
       .k = rows.k,
       .src = rows.data,
       .src_stride = rows.k,
       .dst = buffers.scratch<uint8_t>(rows.task, buffers.plan.lhs),  // [2 m][lhs_stride]
       .dst_stride = buffers.plan.lhs_stride,
       .flip = kSignedLhsFlip});
}

const int32_t* dense16_sums(const Buffers& buffers, const Dense16& layer, const Rows16& rows,
                            ColumnRange columns) {
  const StackPlan& plan = buffers.plan;
  const Kernels& kernels = buffers.engine.kernels;
  const size_t inputs = pad_inputs(rows.k), acc_stride = plan.acc_columns;
  int32_t* acc = buffers.scratch<int32_t>(rows.task, plan.acc);  // [2 m][acc_columns]
  kernels.gemm({.m = 2 * rows.m,
                .n = pad_columns(columns.count),
                .k = inputs,
                .lhs = buffers.scratch<uint8_t>(rows.task, plan.lhs),
                .lhs_stride = plan.lhs_stride,
                .lhs_type = LhsType::kSigned,
                .rhs_order = weight_order(buffers.engine.model),
                .rhs = layer.dense.weights + columns.first * inputs,
                .bias = nullptr,
                .sums = layer.dense.sums + columns.first,
                .dst = acc,
                .dst_stride = acc_stride,
                .planes = 2});
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

void transform_rows(const Buffers& buffers, const HeadTransform& head, const Rows16& rows, size_t n,
                    int16_t* dst) {
  const bool normed = head.norm.gain != nullptr;
  // activate() adds an offset that is the same in every channel. LayerNorm takes it out.
  const int32_t zero = normed ? 0 : activate(0, head.activation);
  dense16_rows(buffers, head.dense, rows, n, [&](size_t i, size_t c, int32_t y) {
    const int32_t u = activate(clamp<int32_t>(y, -32767, 32767), head.activation);
    dst[i * n + c] = static_cast<int16_t>((u - zero) * head.factor);
  });
  if (!normed) return;
  buffers.engine.kernels.layernorm({.m = rows.m,
                                    .n = n,
                                    .src = dst,
                                    .dst = dst,
                                    .stride = n,
                                    .epsilon_n2 = head.norm.epsilon_n2,
                                    .gain = head.norm.gain,
                                    .bias = head.norm.bias,
                                    .shift = head.norm.shift});
}

void pool_head(const Buffers& buffers, const PooledText& text, int16_t* pooled) {
  const Model& model = buffers.engine.model;
  const size_t size = hidden_size(buffers);
  const HeadTransform head = model_pooler(model);
  const int16_t* row = text.hidden;
  if (pools_mean(model)) {
    mean_of_tokens(buffers, text, pooled);
    row = pooled;
  }
  if (head.dense.dense.weights != nullptr) {
    transform_rows(buffers, head, {row, 1, size}, size, pooled);
  } else {
    for (size_t c = 0; c < size; ++c) pooled[c] = row[c];
  }
}

void classify_pooled(const Buffers& buffers, const int16_t* pooled, int32_t* logits) {
  const Model& model = buffers.engine.model;
  dense16_rows(buffers, model_classifier(model), {pooled, 1, hidden_size(buffers)},
               model.header->num_labels, [&](size_t, size_t c, int32_t y) { logits[c] = y; });
}

void classify_tokens(const Buffers& buffers, const int16_t* hidden, size_t tokens,
                     int32_t* logits) {
  const size_t labels = buffers.engine.model.header->num_token_labels;
  token_logits(buffers, {hidden, tokens, hidden_size(buffers)},
               [&](size_t i, size_t c, int32_t y) { logits[i * labels + c] = y; });
}

}  // namespace embert
