// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/heads/lm_head.hpp"

#include "kernels/arithmetic/layout.hpp"

namespace embert {

LmRow::LmRow(const Buffers& buffers, const int16_t* hidden)
    : buffers_(buffers), head_(model_lm(buffers.engine.model)) {
  const size_t hidden_size = last_config(buffers.engine).hidden_size, size = head_.size;
  const int16_t* row = hidden;
  if (head_.transform.dense.dense.weights != nullptr) {
    int16_t* transformed = buffers.scratch<int16_t>(0, buffers.plan.row);  // [size]
    transform_rows(buffers, head_.transform, {hidden, 1, hidden_size}, size, transformed);
    row = transformed;
  }
  uint8_t* planes = buffers.scratch<uint8_t>(0, buffers.plan.lhs);  // [2][lhs_stride]
  buffers.engine.kernels.convert_s8x2_s16({.m = 1,
                                           .k = size,
                                           .src = row,
                                           .src_stride = size,
                                           .dst = planes,
                                           .dst_stride = buffers.plan.lhs_stride,
                                           .flip = 0});
  planes_ = reinterpret_cast<const int8_t*>(planes);
}

const int32_t* LmRow::logits(size_t first, size_t count) const {
  const size_t size = head_.size;
  int32_t* sums = buffers_.scratch<int32_t>(0, buffers_.plan.vocab_sums);  // [2][kVocabBlock]
  buffers_.engine.kernels.dot_rows({.m = 2,
                                    .n = count,
                                    .k = size,
                                    .lhs = planes_,
                                    .lhs_stride = buffers_.plan.lhs_stride,
                                    .rhs = head_.rows + first * size,
                                    .rhs_stride = size,
                                    .dst = sums,
                                    .dst_stride = kVocabBlock});
  for (size_t i = 0; i < count; ++i) {
    const int64_t joined = int64_t{sums[i]} * 256 + sums[kVocabBlock + i];
    const int64_t scaled = shift_round(joined * head_.multipliers[first + i], head_.shift);
    sums[i] = sat32(scaled + head_.bias[first + i]);
  }
  return sums;
}

}  // namespace embert
