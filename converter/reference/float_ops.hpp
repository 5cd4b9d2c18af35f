// SPDX-License-Identifier: Apache-2.0
// The operations between the fully-connected layers, as plain float loops. Sums run in a fixed
// order of lanes, so any compiler may vectorise them without changing a bit.
#pragma once

#include <pthreadpool.h>

#include <cstddef>

#include "converter/model/model_config.hpp"
#include "converter/model/model_weights.hpp"

namespace embert::convert {

/// sum[i] += other[i]
void add_values(pthreadpool_t pool, float* sum, const float* other, std::size_t count);

struct NormRows {
  const float* in;  ///< [rows, cols]
  std::size_t rows;
  const LayerNorm& norm;  ///< [cols]
  double eps;
  float* out;  ///< [rows, cols]; may be `in`
};
/// out[r] = (in[r] - mean) / sqrt(variance + eps) * gamma + beta; mean and variance in double.
void layer_norm_rows(pthreadpool_t pool, const NormRows& rows);

/// values[i] = act(values[i])
void apply_activation(pthreadpool_t pool, HiddenAct act, float* values, std::size_t count);

/// values[i] *= factors[i]
void multiply_values(pthreadpool_t pool, float* values, const float* factors, std::size_t count);

inline constexpr std::size_t kLanes = 8;

/// Adds the lanes in pairs, always in this order.
template <typename T>
T add_lanes(const T (&lanes)[kLanes]) {
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

/// Sum of f(i) for i < count. Value i goes to lane i % kLanes.
template <typename T, typename F>
T sum_lanes(std::size_t count, F f) {
  T lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += f(i + lane);
  }
  for (std::size_t lane = 0; i < count; ++i, ++lane) lanes[lane] += f(i);
  return add_lanes(lanes);
}

}  // namespace embert::convert
