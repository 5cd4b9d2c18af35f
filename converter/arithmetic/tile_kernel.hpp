// SPDX-License-Identifier: Apache-2.0
// The inner loop of a matrix product, chosen for the processor. All give the same bits.
#pragma once

#include <cstddef>

namespace embert::convert {

/// Tile<T, bytes>::add of product_tile.hpp.
template <typename T>
struct TileKernel {
  std::size_t cols;
  void (*add)(std::size_t depth, const T* a, const T* b, T* c, std::size_t step);
};

/// With AVX; only in builds for x86.
extern const TileKernel<float> kFloatTileAvx;
extern const TileKernel<double> kDoubleTileAvx;

}  // namespace embert::convert
