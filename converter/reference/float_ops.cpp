// SPDX-License-Identifier: Apache-2.0
#include "converter/reference/float_ops.hpp"

#include <cmath>

#include "converter/arithmetic/elementary.hpp"
#include "converter/workers.hpp"

namespace embert::convert {
namespace {

constexpr std::size_t kValueTile = 4096;  // values a task, where the work is element by element
constexpr std::size_t kNormTile = 16;     // rows a task of layer_norm_rows

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

float tanh(float x) { return static_cast<float>(ieee::tanh(static_cast<double>(x))); }

float gelu(float x) {
  constexpr float kHalfRoot = 0.70710678118654752F;
  return x * 0.5F * (1.0F + static_cast<float>(ieee::erf(static_cast<double>(x * kHalfRoot))));
}

float gelu_new(float x) {
  constexpr float kRootTwoOverPi = 0.79788456080286536F;
  return 0.5F * x * (1.0F + tanh(kRootTwoOverPi * (x + 0.044715F * (x * x * x))));
}

float silu(float x) { return x / (1.0F + static_cast<float>(ieee::exp(static_cast<double>(-x)))); }

template <typename F>
void map_values(pthreadpool_t pool, float* values, std::size_t count, F f) {
  pthreadpool_parallelize_1d_tile_1d(
      pool,
      [=](std::size_t start, std::size_t size) {
        for (std::size_t i = start; i < start + size; ++i) values[i] = f(values[i]);
      },
      count, kValueTile, kPoolFlags);
}

}  // namespace

void add_values(pthreadpool_t pool, float* sum, const float* other, std::size_t count) {
  pthreadpool_parallelize_1d_tile_1d(
      pool,
      [=](std::size_t start, std::size_t size) {
        for (std::size_t i = start; i < start + size; ++i) sum[i] += other[i];
      },
      count, kValueTile, kPoolFlags);
}

void multiply_values(pthreadpool_t pool, float* values, const float* factors, std::size_t count) {
  pthreadpool_parallelize_1d_tile_1d(
      pool,
      [=](std::size_t start, std::size_t size) {
        for (std::size_t i = start; i < start + size; ++i) values[i] *= factors[i];
      },
      count, kValueTile, kPoolFlags);
}

void layer_norm_rows(pthreadpool_t pool, const NormRows& rows) {
  const std::size_t cols = rows.norm.gamma.size();
  pthreadpool_parallelize_1d_tile_1d(
      pool,
      [=, &rows](std::size_t start, std::size_t size) {
        for (std::size_t r = start; r < start + size; ++r) {
          norm_row(rows.in + r * cols, rows.norm, rows.eps, rows.out + r * cols);
        }
      },
      rows.rows, kNormTile, kPoolFlags);
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
      return map_values(pool, values, count, tanh);
  }
}

}  // namespace embert::convert
