// SPDX-License-Identifier: Apache-2.0
// Rotary positions of 4 pairs of channels at a time.
#include "kernels/helium/lanes_mve.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

// Columns c to c + 3 of a row in 16 bits; zeros in the lanes that do not count.
template <typename Lanes>
EMBERT_INLINE int32x4_t columns16(const Requantize& factor, const int32_t* acc, size_t c,
                                  Lanes lanes) {
  return clamp4(requantize4(load4(acc + c, lanes), load4(factor.multiplier + c, lanes), factor.left,
                            factor.right),
                -32767, 32767);
}

}  // namespace

void rotate_mve(const RotateArgs& all) {
  const RotateArgs args = all;  // a copy, which no store can change
  const size_t half = args.n / 2;
  for (size_t t = 0; t < args.m; ++t) {
    int32_t* acc = args.acc + t * args.acc_stride;
    const int16_t *cosines = args.angles + t * args.n, *sines = cosines + half;
    by_fours(half, [&](size_t i, auto lanes) {
      const int32x4_t a = columns16(args.factor, acc, i, lanes);
      const int32x4_t b = columns16(args.factor, acc, i + half, lanes);
      const int32x4_t cosine = load4(cosines + i, lanes), sine = load4(sines + i, lanes);
      const int32x4_t first = vsubq_s32(vmulq_s32(a, cosine), vmulq_s32(b, sine));
      const int32x4_t second = vaddq_s32(vmulq_s32(b, cosine), vmulq_s32(a, sine));
      store4(acc + i, vrshrq_n_s32(first, 14), lanes);
      store4(acc + half + i, vrshrq_n_s32(second, 14), lanes);
    });
  }
}

}  // namespace embert
