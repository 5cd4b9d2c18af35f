// SPDX-License-Identifier: Apache-2.0
// What stands between the fully-connected layers, in plain float loops. Sums run in a fixed order
// of lanes that any compiler may vectorise without changing a bit; libm is called for one value at
// a time.
#pragma once

#include <pthreadpool.h>

#include <cstddef>

#include "converter/model/model_config.hpp"
#include "converter/model/model_weights.hpp"

namespace embert::convert {

/// sum[i] += other[i]
void add_values(pthreadpool_t pool, float* sum, const float* other, std::size_t count);

/// out[r] = (in[r] - mean) / sqrt(variance + eps) * gamma + beta, moments in double; in and out
/// [rows, cols], which may be the same array.
void layer_norm_rows(pthreadpool_t pool, const float* in, const LayerNorm& norm, double eps,
                     std::size_t rows, float* out);

/// values[i] = act(values[i])
void apply_activation(pthreadpool_t pool, HiddenAct act, float* values, std::size_t count);

inline constexpr std::size_t kLanes = 8;

/// Adds up lanes in pairs, always the same ones.
template <typename T>
T sum_of(const T (&lanes)[kLanes]) {
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

/// sum of f(i) for i < count: value i goes to lane i % kLanes.
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

}  // namespace embert::convert
