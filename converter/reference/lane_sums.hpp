// SPDX-License-Identifier: Apache-2.0
// Sums in a fixed order of lanes, which any compiler may vectorise without changing a bit.
#pragma once

#include <cstddef>

namespace embert::convert {

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
