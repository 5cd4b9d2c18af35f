// SPDX-License-Identifier: Apache-2.0
// Products with a row-major table by two SMULL and two SADALP: 16 bits hold -128 times -128, but
// not the sum of two such products.
#include "kernels/arm/dot_rows_tiles.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

struct Products {
  EMBERT_INLINE int32x4_t add(int32x4_t sum, int8x16_t a, int8x16_t b) {
    sum = vpadalq_s16(sum, vmull_s8(vget_low_s8(a), vget_low_s8(b)));
    return vpadalq_s16(sum, vmull_high_s8(a, b));
  }
};

}  // namespace

void dot_rows_neon(const DotRowsArgs& args) { dot_rows<Products>(args); }

}  // namespace embert
