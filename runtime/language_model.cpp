// SPDX-License-Identifier: Apache-2.0
#include "runtime/language_model.hpp"

#include <string.h>

#include "kernels/layout.hpp"

namespace embert {

LmRow::LmRow(const Pass& pass, const int16_t* hidden)
    : pass_(pass), head_(model_lm(pass.engine.model)) {
  const Kernels& kernels = pass.engine.kernels;
  const size_t size = pass.hidden_size();
  const int16_t* row = hidden;
  if (head_.transform.dense.weights != nullptr) {
    int16_t* made = pass.scratch<int16_t>(0, pass.plan.row);  // [H]
    // The activation's offset is the same in every channel, and LayerNorm takes it out.
    dense_rows(pass, head_.transform, hidden, 1, size, size, [&](size_t, size_t c, int32_t y) {
      made[c] = static_cast<int16_t>(activate(clamp(y, -32767, 32767), head_.activation));
    });
    kernels.layernorm({1, size, made, made, size, head_.norm.epsilon_n2, head_.norm.gain,
                       head_.norm.bias, head_.norm.shift});
    row = made;
  }
  uint8_t* planes = pass.scratch<uint8_t>(0, pass.plan.lhs);
  kernels.split_rows({1, size, row, size, planes, pass.plan.lhs_stride, 0});
  planes_ = reinterpret_cast<const int8_t*>(planes);
}

const int32_t* LmRow::logits(size_t first, size_t count) const {
  const size_t size = pass_.hidden_size();
  int32_t* sums = pass_.scratch<int32_t>(0, pass_.plan.words);  // [2][kWordBlock]
  pass_.engine.kernels.dot_rows({2, count, size, planes_, pass_.plan.lhs_stride,
                                 head_.rows + first * size, size, sums, kWordBlock});
  for (size_t i = 0; i < count; ++i) {
    const int64_t joined = int64_t{sums[i]} * 256 + sums[kWordBlock + i];
    const int64_t scaled = shift_round(joined * head_.multipliers[first + i], head_.shift);
    sums[i] = sat32(scaled + head_.bias[first + i]);
  }
  return sums;
}

}  // namespace embert

embert_status embert_lm_logits(embert_engine* engine, uint32_t row, int32_t* logits,
                               embert_scale* scale) {
  using namespace embert;
  if (engine == nullptr || logits == nullptr) return EMBERT_STATUS_NULL_ARGUMENT;
  const BlobHeader& header = *engine->model.header;
  if ((header.heads & kHeadLm) == 0) return EMBERT_STATUS_NO_LM;
  if (row >= engine->rows) return EMBERT_STATUS_ROW_OUT_OF_RANGE;
  const Pass pass = make_pass(*engine, last_stack(*engine));
  const int16_t* hidden = pass.at<int16_t>(pass.plan.normalized) + row * pass.hidden_size();
  const LmRow lm(pass, hidden);
  const size_t words = pass.stack.numbers->vocab_size;
  for (size_t first = 0; first < words; first += kWordBlock) {
    const size_t count = smaller(kWordBlock, words - first);
    memcpy(logits + first, lm.logits(first, count), count * sizeof(int32_t));
  }
  if (scale != nullptr) scale->float_bits = header.lm_logits_scale;
  return EMBERT_STATUS_OK;
}
