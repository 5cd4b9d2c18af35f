// SPDX-License-Identifier: Apache-2.0
// LayerNorm, activation functions and attention of the float reference.
#include "converter/float_ops.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace embert::convert {
namespace {

constexpr std::size_t kLanes = 8;
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
      count, kTile);
}

// One head of one text; pointers at the head's first column of the text's first row, rows `stride`
// apart.
void attend_head(const float* q, const float* k, const float* v, std::size_t length,
                 std::size_t head_size, std::size_t stride, float* context) {
  const float scale = 1.0F / std::sqrt(static_cast<float>(head_size));
  float scores[kMaxPositions];
  for (std::size_t i = 0; i < length; ++i) {
    const float* query = q + i * stride;
    for (std::size_t j = 0; j < length; ++j) {
      const float* key = k + j * stride;
      scores[j] =
          scale * sum_lanes<float>(head_size, [&](std::size_t d) { return query[d] * key[d]; });
    }
    const float most = *std::max_element(scores, scores + length);
    for (std::size_t j = 0; j < length; ++j) scores[j] = std::exp(scores[j] - most);
    const float total = sum_lanes<float>(length, [&](std::size_t j) { return scores[j]; });

    float sums[kMaxHeadSize] = {};
    for (std::size_t j = 0; j < length; ++j) {
      const float probability = scores[j] / total;
      const float* value = v + j * stride;
      for (std::size_t d = 0; d < head_size; ++d) sums[d] += probability * value[d];
    }
    std::copy(sums, sums + head_size, context + i * stride);
  }
}

}  // namespace

void add_values(pthreadpool_t pool, float* sum, const float* other, std::size_t count) {
  pthreadpool_parallelize_1d_tile_1d(
      pool,
      [=](std::size_t start, std::size_t size) {
        for (std::size_t i = start; i < start + size; ++i) sum[i] += other[i];
      },
      count, kTile);
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
      rows, 16);
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
      lengths.size() * heads);
}

}  // namespace embert::convert
