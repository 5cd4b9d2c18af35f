// SPDX-License-Identifier: Apache-2.0
// Embedding sum of 8 columns, tails by the reference arithmetic.
#include "kernels/arm/lanes_neon.hpp"
#include "kernels/variants.hpp"

namespace embert {

void embedding_s16_neon(const EmbeddingArgs& args) {
  // The multiplier in two parts, because -128 times the whole does not fit 32 bits.
  const int32_t upper = args.multiplier >> 16, lower = args.multiplier & 0xffff;
  size_t c = 0;
  for (; c + 8 <= args.n; c += 8) {
    const int16x8_t word = vmovl_s8(vld1_s8(args.word + c)),
                    position = vld1q_s16(args.position + c);
    const int16x8_t segment =
        args.segment != nullptr ? vld1q_s16(args.segment + c) : vdupq_n_s16(0);
    const int32x4_t low_word = vmovl_s16(vget_low_s16(word)), high_word = vmovl_high_s16(word);
    int32x4_t low = vaddl_s16(vget_low_s16(position), vget_low_s16(segment));
    int32x4_t high = vaddl_high_s16(position, segment);
    low = vrsraq_n_s32(vmlaq_n_s32(low, low_word, upper), vmulq_n_s32(low_word, lower), 16);
    high = vrsraq_n_s32(vmlaq_n_s32(high, high_word, upper), vmulq_n_s32(high_word, lower), 16);
    vst1q_s16(args.dst + c, vqmovn_high_s32(vqmovn_s32(low), high));
  }
  for (; c < args.n; ++c) {
    const int32_t segment = args.segment != nullptr ? args.segment[c] : 0;
    args.dst[c] = static_cast<int16_t>(
        embedding_value(args.word[c], args.multiplier, args.position[c], segment));
  }
}

}  // namespace embert
