// SPDX-License-Identifier: Apache-2.0
// LayerNorm, activation functions and attention of the float reference.
#include "converter/float_ops.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace embert::convert {
namespace {

constexpr std::size_t kLanes = 8;
// Idle threads sleep instead of spinning: on a busy machine that halves the time of a pass.
constexpr std::uint32_t kPoolFlags = PTHREADPOOL_FLAG_YIELD_WORKERS;
constexpr std::size_t kTile = 4096;  // values a task, where the work is element by element

// Adds up lanes in pairs, always the same ones.
template <typename T>
T sum_of(const T (&lanes)[kLanes]) {
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

// sum of f(i) for i < count: value i goes to lane i % kLanes.
template <typename T, typename F>
T sum_lanes(std::size_t count, F f) {
  T lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += f(i + lane);
  }
  for (std::size_t lane = 0; i < count; ++i, ++lane) lanes[lane] += f(i);
  return sum_of(lanes);
}

// In lanes as well: one running maximum would wait for itself at every value.
float largest(const float* values, std::size_t count) {
  float lanes[kLanes];
  std::fill(lanes, lanes + kLanes, values[0]);
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] = values[i + lane] > lanes[lane] ? values[i + lane] : lanes[lane];
    }
  }
  for (; i < count; ++i) lanes[0] = values[i] > lanes[0] ? values[i] : lanes[0];
  return *std::max_element(lanes, lanes + kLanes);
}

void norm_row(const float* in, const LayerNorm& norm, double eps, float* out) {
  const std::size_t cols = norm.gamma.size();
  const auto size = static_cast<double>(cols);
  const double mean =
      sum_lanes<double>(cols, [&](std::size_t i) { return static_cast<double>(in[i]); }) / size;
  const double variance = sum_lanes<double>(cols,
                                            [&](std::size_t i) {
                                              const double c = static_cast<double>(in[i]) - mean;
                                              return c * c;
                                            }) /
                          size;
  const double scale = 1.0 / std::sqrt(variance + eps);
  for (std::size_t i = 0; i < cols; ++i) {
    const auto n = static_cast<float>((static_cast<double>(in[i]) - mean) * scale);
    out[i] = n * norm.gamma[i] + norm.beta[i];
  }
}

float gelu(float x) {
  constexpr float kHalfRoot = 0.70710678118654752F;
  return x * 0.5F * (1.0F + std::erf(x * kHalfRoot));
}

float gelu_new(float x) {
  constexpr float kRootTwoOverPi = 0.79788456080286536F;
  return 0.5F * x * (1.0F + std::tanh(kRootTwoOverPi * (x + 0.044715F * (x * x * x))));
}

float silu(float x) { return x / (1.0F + std::exp(-x)); }

template <typename F>
void map_values(pthreadpool_t pool, float* values, std::size_t count, F f) {
  pthreadpool_parallelize_1d_tile_1d(
      pool,
      [=](std::size_t start, std::size_t size) {
        for (std::size_t i = start; i < start + size; ++i) values[i] = f(values[i]);
      },
      count, kTile, kPoolFlags);
}

// Attention works on tiles: scores of kQueryTile queries, for which kKeyTile keys at a time are
// transposed so that the inner loop runs along keys.
constexpr std::size_t kQueryTile = 32;
constexpr std::size_t kKeyTile = 64;
static_assert(kMaxPositions % kKeyTile == 0);

// keys [count, head_size], rows `stride` apart -> out [head_size, kKeyTile], zero beyond count
void transpose_keys(const float* keys, std::size_t count, std::size_t head_size, std::size_t stride,
                    float* out) {
  std::fill(out, out + head_size * kKeyTile, 0.0F);
  for (std::size_t j = 0; j < count; ++j) {
    for (std::size_t d = 0; d < head_size; ++d) out[d * kKeyTile + j] = keys[j * stride + d];
  }
}

// scores[j] = scale * query . key j, for kKeyTile transposed keys
void score_keys(const float* query, const float* keys, std::size_t head_size, float scale,
                float* scores) {
  float sums[kKeyTile] = {};
  std::size_t d = 0;
  for (; d + 4 <= head_size;
       d += 4) {  // four at a time: a sum is loaded and stored a quarter as often
    const float* key = keys + d * kKeyTile;
    const float q0 = query[d], q1 = query[d + 1], q2 = query[d + 2], q3 = query[d + 3];
    for (std::size_t j = 0; j < kKeyTile; ++j) {
      sums[j] += (q0 * key[j] + q1 * key[j + kKeyTile]) +
                 (q2 * key[j + 2 * kKeyTile] + q3 * key[j + 3 * kKeyTile]);
    }
  }
  for (; d < head_size; ++d) {
    for (std::size_t j = 0; j < kKeyTile; ++j) sums[j] += query[d] * keys[d * kKeyTile + j];
  }
  for (std::size_t j = 0; j < kKeyTile; ++j) scores[j] = scale * sums[j];
}

// context = sum over j of weights[j] * value j
void mix_values(const float* weights, const float* values, std::size_t count, std::size_t head_size,
                std::size_t stride, float* context) {
  float sums[kMaxHeadSize] = {};
  std::size_t j = 0;
  for (; j + 4 <= count; j += 4) {
    const float* v = values + j * stride;
    const float w0 = weights[j], w1 = weights[j + 1], w2 = weights[j + 2], w3 = weights[j + 3];
    for (std::size_t d = 0; d < head_size; ++d) {
      sums[d] +=
          (w0 * v[d] + w1 * v[d + stride]) + (w2 * v[d + 2 * stride] + w3 * v[d + 3 * stride]);
    }
  }
  for (; j < count; ++j) {
    for (std::size_t d = 0; d < head_size; ++d) sums[d] += weights[j] * values[j * stride + d];
  }
  std::copy(sums, sums + head_size, context);
}

void softmax(float* scores, std::size_t count) {
  const float most = largest(scores, count);
  for (std::size_t j = 0; j < count; ++j) scores[j] = std::exp(scores[j] - most);
  const float total = sum_lanes<float>(count, [&](std::size_t j) { return scores[j]; });
  for (std::size_t j = 0; j < count; ++j) scores[j] /= total;
}

// One head of one text; pointers at the head's first column of the text's first row, rows `stride`
// apart.
void attend_head(const float* q, const float* k, const float* v, std::size_t length,
                 std::size_t head_size, std::size_t stride, float* context) {
  const float scale = 1.0F / std::sqrt(static_cast<float>(head_size));
  float scores[kQueryTile][kMaxPositions];
  float keys[static_cast<std::size_t>(kMaxHeadSize) * kKeyTile];
  for (std::size_t first = 0; first < length; first += kQueryTile) {
    const std::size_t queries = std::min(kQueryTile, length - first);
    for (std::size_t key = 0; key < length; key += kKeyTile) {
      transpose_keys(k + key * stride, std::min(kKeyTile, length - key), head_size, stride, keys);
      for (std::size_t i = 0; i < queries; ++i) {
        score_keys(q + (first + i) * stride, keys, head_size, scale, scores[i] + key);
      }
    }
    for (std::size_t i = 0; i < queries; ++i) {
      softmax(scores[i], length);
      mix_values(scores[i], v, length, head_size, stride, context + (first + i) * stride);
    }
  }
}

}  // namespace

void add_values(pthreadpool_t pool, float* sum, const float* other, std::size_t count) {
  pthreadpool_parallelize_1d_tile_1d(
      pool,
      [=](std::size_t start, std::size_t size) {
        for (std::size_t i = start; i < start + size; ++i) sum[i] += other[i];
      },
      count, kTile, kPoolFlags);
}

void layer_norm_rows(pthreadpool_t pool, const float* in, const LayerNorm& norm, double eps,
                     std::size_t rows, float* out) {
  const std::size_t cols = norm.gamma.size();
  pthreadpool_parallelize_1d_tile_1d(
      pool,
      [=, &norm](std::size_t start, std::size_t size) {
        for (std::size_t r = start; r < start + size; ++r)
          norm_row(in + r * cols, norm, eps, out + r * cols);
      },
      rows, 16, kPoolFlags);
}

void apply_activation(pthreadpool_t pool, HiddenAct act, float* values, std::size_t count) {
  switch (act) {
    case HiddenAct::kGelu:
      return map_values(pool, values, count, gelu);
    case HiddenAct::kGeluNew:
      return map_values(pool, values, count, gelu_new);
    case HiddenAct::kRelu:
      return map_values(pool, values, count, [](float x) { return x > 0 ? x : 0.0F; });
    case HiddenAct::kSilu:
      return map_values(pool, values, count, silu);
    case HiddenAct::kTanh:
      return map_values(pool, values, count, [](float x) { return std::tanh(x); });
  }
}

void attend(pthreadpool_t pool, const float* q, const float* k, const float* v,
            std::span<const std::int32_t> lengths, std::size_t hidden, std::size_t heads,
            float* context) {
  std::vector<std::size_t> first_rows;
  std::size_t rows = 0;
  for (const std::int32_t length : lengths) {
    first_rows.push_back(rows);
    rows += static_cast<std::size_t>(length);
  }
  const std::size_t head_size = hidden / heads;
  pthreadpool_parallelize_1d(
      pool,
      [&](std::size_t task) {
        const std::size_t text = task / heads;
        const std::size_t at = first_rows[text] * hidden + task % heads * head_size;
        attend_head(q + at, k + at, v + at, static_cast<std::size_t>(lengths[text]), head_size,
                    hidden, context + at);
      },
      lengths.size() * heads, kPoolFlags);
}

}  // namespace embert::convert
