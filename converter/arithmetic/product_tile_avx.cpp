// SPDX-License-Identifier: Apache-2.0
// Compiled with -mavx. Nothing here needs AVX2, and FMA would round differently.
#include "converter/arithmetic/product_tile.hpp"
#include "converter/arithmetic/tile_kernel.hpp"

namespace embert::convert {

const TileKernel<float> kFloatTileAvx = {Tile<float, 32>::kCols, Tile<float, 32>::add};
const TileKernel<double> kDoubleTileAvx = {Tile<double, 32>::kCols, Tile<double, 32>::add};

}  // namespace embert::convert
