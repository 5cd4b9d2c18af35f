// SPDX-License-Identifier: Apache-2.0
// Softmax of 4 keys at a time. The table is gathered. The exponent index needs no limit: entries
// are below 2^15, so from index 576 on the last shift, by 16 or more, gives 0; of 14 bits that is
// so from index 960 on.
#include "kernels/helium/lanes_mve.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

EMBERT_INLINE int32_t maximum(int32_t highest, int32x4_t x, AllLanes) {
  return vmaxvq_s32(highest, x);
}
EMBERT_INLINE int32_t maximum(int32_t highest, int32x4_t x, FirstLanes lanes) {
  return vmaxvq_p_s32(highest, x, vctp32q(lanes.left));
}

template <size_t kPlanes>
void softmax(const SoftmaxArgs& all) {
  const SoftmaxArgs args = all;  // a copy, which no store can change
  const int32x4_t flip = vdupq_n_s32(kUnsignedLhsFlip);
  const uint32x4_t fraction_bits = vdupq_n_u32(63);
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* scores = args.scores + i * args.scores_stride;
    int8_t* high = reinterpret_cast<int8_t*>(args.dst) + kPlanes * i * args.dst_stride;
    int8_t* low = high + (kPlanes - 1) * args.dst_stride;
    int32_t highest = INT32_MIN;
    by_fours(args.n, [&](size_t j, auto lanes) {
      highest = maximum(highest, vldrwq_s32(scores + j), lanes);
    });
    const int32x4_t cap = vdupq_n_s32(args.score_cap), top = vdupq_n_s32(highest);
    int32_t sum = 0;
    by_fours(args.n, [&](size_t j, auto lanes) {
      const int32x4_t distance = vminq_s32(vsubq_s32(top, vldrwq_s32(scores + j)), cap);
      const uint32x4_t scaled = vmulq_n_u32(vreinterpretq_u32_s32(distance), args.score_multiplier);
      const uint32x4_t index = vshrq_n_u32(vaddq_n_u32(scaled, 1u << 21), 22);
      const uint32x4_t fraction =
          vldrhq_gather_shifted_offset_u32(kExpTable, vandq_u32(index, fraction_bits));
      const int32x4_t shift = vsubq_s32(vdupq_n_s32(kPlanes == 1 ? -7 : -1),
                                        vreinterpretq_s32_u32(vshrq_n_u32(index, 6)));
      const int32x4_t e = only(vreinterpretq_s32_u32(vrshlq_u32(fraction, shift)), lanes);
      sum = vaddvaq_s32(sum, e);
      if (kPlanes > 1) vstrbq_s32(high + j, veorq_s32(vshrq_n_s32(e, 8), flip));
      vstrbq_s32(low + j, veorq_s32(e, flip));
    });
    args.row[i] = reciprocal(static_cast<uint32_t>(sum));
  }
}

}  // namespace

void softmax_u8_s32_mve(const SoftmaxArgs& args) { softmax<1>(args); }
void softmax_u8x2_s32_mve(const SoftmaxArgs& args) { softmax<2>(args); }

}  // namespace embert
