// SPDX-License-Identifier: Apache-2.0
#include "runtime/heads.hpp"

#include "kernels/layout.hpp"

namespace embert {
namespace {

/// tanh at 2^-12 times 7: 16 bits well used, exact to undo.
constexpr int32_t kPooledFactor = 7;
constexpr int32_t kTanhExponent = 12;

/// One 16-bit row through a dense layer. The row goes in as two planes of 8 bits, two rows of one
/// GEMM, so a head keeps the precision that a single token's few products would otherwise show.
template <typename Store>
void dense_row(Engine& engine, const HeadDense& head, const int16_t* row, size_t n, Store store) {
  const Plan& plan = engine.plan;
  const size_t hidden = engine.stack.numbers->hidden_size, inputs = pad_inputs(hidden);
  uint8_t* planes = engine.scratch<uint8_t>(0, plan.lhs);  // [2][K(H)]
  int32_t* acc = engine.scratch<int32_t>(0, plan.acc);     // [2][acc_columns]
  for (size_t c = 0; c < inputs; ++c) {
    const int32_t value = c < hidden ? clamp<int32_t>(row[c], -kValueBound, kValueBound) : 0;
    planes[c] = static_cast<uint8_t>(plane_high(value)) ^ kSignedLhsFlip;
    planes[inputs + c] = static_cast<uint8_t>(plane_low(value)) ^ kSignedLhsFlip;
  }
  const Dense& dense = head.dense;
  for (size_t column = 0; column < n; column += kGemmColumns) {
    const size_t columns = n - column < kGemmColumns ? n - column : kGemmColumns;
    engine.kernels.gemm({2, pad_columns(columns), inputs, planes, inputs, LhsType::kSigned,
                         dense.weights + column * inputs, nullptr, dense.sums + column, acc,
                         plan.acc_columns});
    for (size_t c = 0; c < columns; ++c) {
      const int64_t joined =
          shift_round(int64_t{acc[c]} * 256 + acc[plan.acc_columns + c], head.join_shift);
      const int32_t sum = sat32(joined + dense.bias[column + c]);
      store(column + c, requantize(sum, dense.factor.multiplier[column + c], dense.factor.left,
                                   dense.factor.right));
    }
  }
}

}  // namespace

void pool_text(Engine& engine, const int16_t* hidden, size_t length, uint32_t pooling,
               int16_t* embedding) {
  const size_t size = engine.stack.numbers->hidden_size;
  int32_t* sums = engine.scratch<int32_t>(0, engine.plan.sums);  // [H]
  for (size_t c = 0; c < size; ++c) sums[c] = hidden[c];
  for (size_t row = 1; row < length && pooling != kPoolingCls; ++row) {
    const int16_t* values = hidden + row * size;
    if (pooling == kPoolingMean) {
      for (size_t c = 0; c < size; ++c) sums[c] += values[c];
    } else {
      for (size_t c = 0; c < size; ++c) sums[c] = values[c] > sums[c] ? values[c] : sums[c];
    }
  }
  if (engine.model.header->normalize == 0) {
    const int64_t rows = pooling == kPoolingMean ? static_cast<int64_t>(length) : 1;
    for (size_t c = 0; c < size; ++c) {
      const int64_t doubled = int64_t{2} * sums[c] + rows;  // floor(sum / rows + 1/2)
      const int64_t quotient = doubled / (2 * rows), remainder = doubled % (2 * rows);
      embedding[c] = static_cast<int16_t>(quotient - (remainder < 0 ? 1 : 0));
    }
    return;
  }
  // The mean's division cancels in the norm. |sum| <= 2^24 and H <= 2^12, so the squares stay below
  // 2^60.
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

void pool_first_token(Engine& engine, const int16_t* hidden, int16_t* pooled) {
  const Activation tanh = model_activation(kActivationTanh, kTanhExponent);
  dense_row(engine, model_pooler(engine.model), hidden, engine.stack.numbers->hidden_size,
            [&](size_t c, int32_t y) {
              const int32_t u = activate(clamp(y, -32767, 32767), tanh);
              pooled[c] = static_cast<int16_t>((u - (1 << kTanhExponent)) * kPooledFactor);
            });
}

void classify_text(Engine& engine, const int16_t* hidden, int32_t* logits) {
  int16_t* pooled = engine.scratch<int16_t>(0, engine.plan.pooled);  // [H]
  pool_first_token(engine, hidden, pooled);
  dense_row(engine, model_classifier(engine.model), pooled, engine.model.header->num_labels,
            [&](size_t c, int32_t y) { logits[c] = y; });
}

}  // namespace embert
