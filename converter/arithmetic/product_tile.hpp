// SPDX-License-Identifier: Apache-2.0
// The inner loop of matrix products, for vectors of a given width. A file that includes this is
// compiled with the flags of its instruction set, so all here has internal linkage.
#pragma once

#include <cstddef>
#include <cstring>

namespace embert::convert {
namespace {

constexpr std::size_t kTileRows = 6;

// Vectors of kBytes.
template <typename T, std::size_t kBytes>
struct Tile {
  typedef T Vector __attribute__((vector_size(kBytes)));
  static constexpr std::size_t kLanes = kBytes / sizeof(T);
  static constexpr std::size_t kCols = 2 * kLanes;

  // c[r][j] += a[k][r] * b[k][j] for k = 0, 1, ... < depth. a: [depth, kTileRows], b: [depth,
  // kCols], c: [kTileRows, kCols] in rows `step` apart. Twelve sums, two of b, one of a and a
  // product: 16 registers.
  static void add(std::size_t depth, const T* a, const T* b, T* c, std::size_t step) {
    Vector sums[kTileRows][2];
#pragma GCC unroll 6
    for (std::size_t r = 0; r < kTileRows; ++r) {
      std::memcpy(&sums[r][0], c + r * step, kBytes);
      std::memcpy(&sums[r][1], c + r * step + kLanes, kBytes);
    }
    for (std::size_t k = 0; k < depth; ++k, a += kTileRows, b += kCols) {
      Vector b0, b1;
      std::memcpy(&b0, b, kBytes);
      std::memcpy(&b1, b + kLanes, kBytes);
#pragma GCC unroll 6
      for (std::size_t r = 0; r < kTileRows; ++r) {
        sums[r][0] += a[r] * b0;
        sums[r][1] += a[r] * b1;
      }
    }
#pragma GCC unroll 6
    for (std::size_t r = 0; r < kTileRows; ++r) {
      std::memcpy(c + r * step, &sums[r][0], kBytes);
      std::memcpy(c + r * step + kLanes, &sums[r][1], kBytes);
    }
  }
};

}  // namespace
}  // namespace embert::convert
