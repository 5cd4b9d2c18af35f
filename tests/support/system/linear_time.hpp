// SPDX-License-Identifier: Apache-2.0
// Whether work takes linear time, by the processor's clock: of a test that asks the clock on the
// wall, a busy machine decides the result.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <string>

namespace embert::test {

/// An input of a JSON parser: an array of empty objects.
inline std::string json_objects(std::size_t count) {
  std::string text = "[{}";
  for (std::size_t i = 1; i < count; ++i) text += ",{}";
  return text + "]";
}

/// The least processor time of three runs, in seconds.
template <typename Run>
double least_seconds(const Run& run) {
  double least = 1e9;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t begin = std::clock();
    run();
    least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return least;
}

/// work(input_of(size)), and the same for four times the size: that may take eight times as long,
/// and 20 ms more, as machines are busy. Quadratic work takes sixteen times as long.
template <typename InputOf, typename Work>
void expect_linear_time(std::size_t size, const InputOf& input_of, const Work& work) {
  const auto small = input_of(size), large = input_of(4 * size);
  const double seconds = least_seconds([&] { work(small); });
  EXPECT_LT(least_seconds([&] { work(large); }), 8 * seconds + 0.02) << "of " << seconds << " s";
}

}  // namespace embert::test
