// SPDX-License-Identifier: Apache-2.0
// Context of 4 columns at a time.
#include "kernels/helium/lanes_mve.hpp"
#include "kernels/variants.hpp"

namespace embert {

void requantize_context_mve(const RequantizeContextArgs& all) {
  const RequantizeContextArgs args = all;  // a copy, which no store can change
  const size_t columns = pad_columns(args.n);
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    int16_t* dst = args.dst + i * args.dst_stride;
    const int32x4_t reciprocal = vdupq_n_s32(args.row[i].value);
    const int32_t shift = 23 - args.row[i].z;
    by_fours(args.n, [&](size_t c, auto lanes) {
      const int32x4_t high = vshlq_r_s32(vldrwq_s32(acc + c), shift);
      const int32x4_t low = vshlq_r_s32(vldrwq_s32(acc + columns + c), shift);
      const int32x4_t joined = vaddq_s32(vqrdmulhq_s32(high, reciprocal),
                                         vrshrq_n_s32(vqrdmulhq_s32(low, reciprocal), 8));
      const int32x4_t value = requantize4(joined, vldrwq_s32(args.factor.multiplier + c),
                                          args.factor.left, args.factor.right);
      store4(dst + c, clamp4(value, -32767, 32767), lanes);
    });
  }
}

}  // namespace embert
