// SPDX-License-Identifier: Apache-2.0
// 16 bits to 8, 8 columns at a time in 16-bit lanes.
#include "kernels/helium/lanes_mve.hpp"
#include "kernels/variants.hpp"

namespace embert {

void convert_s8_s16_mve(const ConvertS8S16Args& all) {
  const ConvertS8S16Args args = all;  // a copy, which no store can change
  const int16x8_t highest = vdupq_n_s16(127), lowest = vdupq_n_s16(-127);
  for (size_t i = 0; i < args.m; ++i) {
    const int16_t* src = args.src + i * args.src_stride;
    uint8_t* dst = args.dst + i * args.dst_stride;
    by_eights(args.k, [&](size_t c, auto lanes) {
      const int16x8_t x = vrshrq_n_s16(load8(src + c, lanes), 7);
      store8(dst + c, vmaxq_s16(vminq_s16(x, highest), lowest), lanes);
    });
  }
}

}  // namespace embert
