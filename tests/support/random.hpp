// SPDX-License-Identifier: Apache-2.0
// Random test data, biased towards the ends of its range. The seed is fixed; EMBERT_SEED=n sets
// another one. A failing test prints the seed (SeededTest).
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace embert {

inline uint64_t test_seed() {
  const char* text = std::getenv("EMBERT_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 0) : 1;
}

/// splitmix64 (Steele, Lea and Flood 2014): a counter and a bit mixer.
class Random {
 public:
  /// Different salts give different streams.
  explicit Random(uint64_t salt) : state_(test_seed() * 0x9e3779b97f4a7c15u + salt) {}

  uint64_t next() {
    uint64_t x = state_ += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  /// Uniform in lowest..highest.
  int64_t uniform(int64_t lowest, int64_t highest) {
    const uint64_t values = static_cast<uint64_t>(highest) - static_cast<uint64_t>(lowest) + 1;
    const uint64_t offset = values == 0 ? next() : next() % values;
    return static_cast<int64_t>(static_cast<uint64_t>(lowest) + offset);
  }
  size_t below(size_t n) { return static_cast<size_t>(next() % n); }

  enum Fill { kAllMin, kAllMax, kAlternating, kOneHot, kUniform, kFills };
  /// Data of one kind: the ends of the range, both in turn, one end among zeros, or random.
  template <typename T>
  void fill(T* data, size_t count, int64_t lowest, int64_t highest, Fill kind) {
    const T low = static_cast<T>(lowest), high = static_cast<T>(highest);
    const size_t hot = count == 0 ? 0 : below(count);
    for (size_t i = 0; i < count; ++i) {
      switch (kind) {
        case kAllMin:
          data[i] = low;
          break;
        case kAllMax:
          data[i] = high;
          break;
        case kAlternating:
          data[i] = i % 2 == 0 ? low : high;
          break;
        case kOneHot:
          data[i] = i == hot ? high : T{0};
          break;
        default:
          data[i] = static_cast<T>(uniform(lowest, highest));
          break;
      }
    }
  }
  /// Data of a random kind.
  template <typename T>
  void fill(T* data, size_t count, int64_t lowest, int64_t highest) {
    fill(data, count, lowest, highest, static_cast<Fill>(below(kFills)));
  }

 private:
  uint64_t state_;
};

/// Tests with random data: a failure prints the seed that repeats it.
class SeededTest : public ::testing::Test {
 private:
  ::testing::ScopedTrace seed_{__FILE__, __LINE__, "EMBERT_SEED=" + std::to_string(test_seed())};
};

}  // namespace embert
