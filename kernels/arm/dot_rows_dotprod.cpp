// SPDX-License-Identifier: Apache-2.0
// Products with a row-major table by SDOT.
#if !defined(__ARM_FEATURE_DOTPROD)
#error "this file needs the flags of dotprod (kernels/sources.cmake)"
#endif
#include "kernels/arm/dot_rows_tiles.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

struct Products {
  EMBERT_INLINE int32x4_t add(int32x4_t sum, int8x16_t a, int8x16_t b) {
    return vdotq_s32(sum, a, b);
  }
};

}  // namespace

void dot_rows_dotprod(const DotRowsArgs& args) { dot_rows<Products>(args); }

}  // namespace embert
