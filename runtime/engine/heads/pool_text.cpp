// SPDX-License-Identifier: Apache-2.0
// Pooled values have 4 binary places more than the hidden states: a mean, or a sum divided by the
// root of a length, then loses nothing that 16 bits or the unit vector show. Their magnitude stays
// below 2^24: 2^15 sqrt(512) 2^4.
#include "runtime/engine/heads/pool_text.hpp"

#include "runtime/engine/heads/task_heads.hpp"
#include "runtime/engine/input/embeddings.hpp"

namespace embert {
namespace {

constexpr uint32_t kFloat2PowMinus15 = (127u - 15u) << 23;
constexpr int32_t kPooledShift = 4;
constexpr int32_t kTanhFactor = 7;  // tanh has the scale 2^-12; times 7 it fills 16 bits

/// floor(sum / count + 1/2), count > 0.
int64_t divide_round(int64_t sum, int64_t count) {
  const int64_t doubled = 2 * sum + count;
  const int64_t quotient = doubled / (2 * count), remainder = doubled % (2 * count);
  return quotient - (remainder < 0 ? 1 : 0);
}

/// values [n], magnitudes up to 2^24, n up to 2^12 -> unit [n] of length 1, scale 2^-15; zeros stay
/// zeros. unit may be values.
template <typename T>
void make_unit(const T* values, size_t n, int16_t* unit) {
  uint64_t squares = 0;  // below 2^60
  for (size_t c = 0; c < n; ++c) {
    squares += static_cast<uint64_t>(int64_t{values[c]} * values[c]);
  }
  if (squares == 0) squares = 1;
  const Rsqrt r = rsqrt(squares);  // 1 / sqrt = y * 2^(h/2 - 60)
  for (size_t c = 0; c < n; ++c) {
    const int64_t value = shift_round(int64_t{values[c]} * r.y_q30, 45 - r.h / 2);
    unit[c] = static_cast<int16_t>(clamp<int64_t>(value, -32767, 32767));
  }
}

/// 16 times the pooled value of a channel, whose values are `stride` apart.
int32_t pooled_value(BlobPooling pooling, const int16_t* channel, size_t stride, size_t length) {
  constexpr int64_t kPooledFactor = 1 << kPooledShift;
  if (pooling == kPoolingCls) return static_cast<int32_t>(channel[0] * kPooledFactor);
  if (pooling == kPoolingLastToken) {
    return static_cast<int32_t>(channel[(length - 1) * stride] * kPooledFactor);
  }
  int64_t sum = 0, weighted = 0, highest = channel[0];
  for (size_t i = 0; i < length; ++i) {
    const int64_t value = channel[i * stride];
    sum += value;
    weighted += value * static_cast<int64_t>(i + 1);
    highest = value > highest ? value : highest;
  }
  const int64_t count = static_cast<int64_t>(length);
  switch (pooling) {
    case kPoolingMax:
      return static_cast<int32_t>(highest * kPooledFactor);
    case kPoolingWeightedMean:
      return static_cast<int32_t>(divide_round(weighted * kPooledFactor, count * (count + 1) / 2));
    case kPoolingMeanSqrtLength: {
      const Rsqrt r = rsqrt(length);
      return static_cast<int32_t>(shift_round(sum * kPooledFactor * r.y_q30, 60 - r.h / 2));
    }
    default:
      return static_cast<int32_t>(divide_round(sum * kPooledFactor, count));
  }
}

/// A column of a dense layer through its activation.
int16_t activated(const BlobVectorDense& dense, int32_t y) {
  const int32_t value = clamp<int32_t>(y, -32767, 32767);
  if (dense.activation == kVectorActivationNone) return static_cast<int16_t>(value);
  if (dense.activation == kActivationRelu) return static_cast<int16_t>(value > 0 ? value : 0);
  const Activation function = model_activation(dense.activation, dense.exponent);
  const int32_t u = activate(value, function);
  if (dense.activation == kActivationTanh) {
    return static_cast<int16_t>((u - (1 << dense.exponent)) * kTanhFactor);
  }
  return static_cast<int16_t>(u - shift_round_s32(function.offset_q14, 14 - dense.exponent));
}

/// pooled s32 [num_poolings * H], scale of the hidden state / 16 -> vector.
void finish_vector(const Buffers& buffers, const BlobVector& record, const int32_t* pooled,
                   int16_t* vector) {
  const Model& model = buffers.engine.model;
  const bool normalize = model.header->normalize != 0;
  const size_t width = record.num_poolings * size_t{last_config(buffers.engine).hidden_size};
  int16_t* row = buffers.scratch<int16_t>(0, buffers.plan.row);  // [widest of the vectors]
  int16_t* dst = record.num_dense > 0 ? row : vector;
  if (record.num_dense > 0 ? record.dense[0].normalize_input != 0 : normalize) {
    make_unit(pooled, width, dst);
  } else {
    for (size_t c = 0; c < width; ++c) {
      const int64_t value =
          shift_round(int64_t{pooled[c]} * record.pooled_multiplier, record.pooled_shift);
      dst[c] = static_cast<int16_t>(clamp<int64_t>(value, -32767, 32767));
    }
  }
  for (uint32_t i = 0; i < record.num_dense; ++i) {
    const BlobVectorDense& dense = record.dense[i];
    const VectorDense layer = model_vector_dense(model, i);
    const bool last = i + 1 == record.num_dense;
    dst = last ? vector : row;  // in place: the planes of the row are what the GEMM reads
    dense16_rows(buffers, layer.layer, {row, 1, layer.inputs}, dense.outputs,
                 [&](size_t, size_t c, int32_t y) { dst[c] = activated(dense, y); });
    if (last ? normalize : record.dense[i + 1].normalize_input != 0) {
      make_unit(dst, dense.outputs, dst);
    }
  }
}

}  // namespace

void pool_text(const Buffers& buffers, const int16_t* hidden, size_t length, BlobPooling pooling,
               int16_t* vector) {
  const size_t size = last_config(buffers.engine).hidden_size;
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
  // Dividing by the number of rows would not change the unit vector.
  if (buffers.engine.model.header->normalize != 0) return make_unit(sums, size, vector);
  const int64_t rows = pooling == kPoolingMean ? static_cast<int64_t>(length) : 1;
  for (size_t c = 0; c < size; ++c) {
    vector[c] = static_cast<int16_t>(divide_round(sums[c], rows));
  }
}

void make_vector(const Buffers& buffers, const int16_t* hidden, size_t length, int16_t* vector) {
  const Model& model = buffers.engine.model;
  const BlobVector* record = model_vector(model);
  if (record == nullptr) {
    return pool_text(buffers, hidden, length, static_cast<BlobPooling>(model.header->pooling),
                     vector);
  }
  const size_t size = last_config(buffers.engine).hidden_size;
  int32_t* pooled = buffers.scratch<int32_t>(0, buffers.plan.pool_sums);  // [num_poolings][H]
  for (uint32_t i = 0; i < record->num_poolings; ++i) {
    const BlobPooling pooling = static_cast<BlobPooling>(record->poolings[i]);
    for (size_t c = 0; c < size; ++c) {
      pooled[i * size + c] = pooled_value(pooling, hidden + c, size, length);
    }
  }
  finish_vector(buffers, *record, pooled, vector);
}

void make_static_vector(const Buffers& buffers, const int32_t* ids, size_t length,
                        int16_t* vector) {
  const Model& model = buffers.engine.model;
  const Stack stack = model_last_stack(model);
  const size_t size = stack.config->hidden_size;
  int32_t* sums = buffers.scratch<int32_t>(0, buffers.plan.pool_sums);  // [H]
  int16_t* row = buffers.scratch<int16_t>(0, buffers.plan.row);         // [H]
  for (size_t c = 0; c < size; ++c) sums[c] = 0;
  int64_t count = 0;
  for (size_t i = 0; i < length; ++i) {
    const size_t id = static_cast<size_t>(ids[i]);
    if (id == stack.static_embeddings->dropped_id) continue;
    embed_token(buffers.engine.kernels, stack,
                {.id = id, .position = stack.positions, .segment = nullptr, .dst = row});
    for (size_t c = 0; c < size; ++c) sums[c] += row[c];
    ++count;
  }
  if (count == 0) count = 1;
  const BlobVector* record = model_vector(model);
  if (record == nullptr && model.header->normalize != 0) return make_unit(sums, size, vector);
  if (record == nullptr) {
    for (size_t c = 0; c < size; ++c) {
      vector[c] = static_cast<int16_t>(divide_round(sums[c], count));
    }
    return;
  }
  for (size_t c = 0; c < size; ++c) {
    sums[c] = static_cast<int32_t>(divide_round(int64_t{sums[c]} << kPooledShift, count));
  }
  finish_vector(buffers, *record, sums, vector);
}

uint32_t vector_scale(const Model& model) {
  if (model.header->normalize != 0) return kFloat2PowMinus15;
  const BlobVector* record = model_vector(model);
  if (record == nullptr) return model_last_stack(model).config->hidden_scale;
  return record->num_dense > 0 ? record->dense[record->num_dense - 1].scale : record->pooled_scale;
}

}  // namespace embert
