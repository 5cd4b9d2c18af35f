// SPDX-License-Identifier: Apache-2.0
// Embedding sum of 8 columns, tails by the reference arithmetic. Codes of 4 bits become levels
// by a table look-up.
#include "kernels/arm/lanes_neon.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

/// dst = the sum of 8 columns. segment may be null. The multiplier comes in two parts, because -128
/// times the whole does not fit 32 bits.
EMBERT_INLINE void sum8(int16x8_t word, int32_t multiplier, const int16_t* position_row,
                        const int16_t* segment_row, int16_t* dst) {
  const int32_t upper = multiplier >> 16, lower = multiplier & 0xffff;
  const int16x8_t position = vld1q_s16(position_row);
  const int16x8_t segment = segment_row != nullptr ? vld1q_s16(segment_row) : vdupq_n_s16(0);
  const int32x4_t low_word = vmovl_s16(vget_low_s16(word)), high_word = vmovl_high_s16(word);
  int32x4_t low = vaddl_s16(vget_low_s16(position), vget_low_s16(segment));
  int32x4_t high = vaddl_high_s16(position, segment);
  low = vrsraq_n_s32(vmlaq_n_s32(low, low_word, upper), vmulq_n_s32(low_word, lower), 16);
  high = vrsraq_n_s32(vmlaq_n_s32(high, high_word, upper), vmulq_n_s32(high_word, lower), 16);
  vst1q_s16(dst, vqmovn_high_s32(vqmovn_s32(low), high));
}
EMBERT_INLINE const int16_t* from(const int16_t* row, size_t c) {
  return row == nullptr ? nullptr : row + c;
}

}  // namespace

void embedding_s16_neon(const EmbeddingArgs& args) {
  size_t c = 0;
  for (; c + 8 <= args.n; c += 8) {
    sum8(vmovl_s8(vld1_s8(args.word + c)), args.multiplier, args.position + c,
         from(args.segment, c), args.dst + c);
  }
  for (; c < args.n; ++c) {
    const int32_t segment = args.segment != nullptr ? args.segment[c] : 0;
    args.dst[c] = static_cast<int16_t>(
        embedding_value(args.word[c], args.multiplier, args.position[c], segment));
  }
}

void embedding_4bit_neon(const Embedding4BitArgs& args) {
  const int8x16_t levels = vld1q_s8(args.levels);
  size_t c = 0;
  for (; c + 8 <= args.n; c += 8) {
    const uint8x8_t codes = vld1_u8(args.row + word_code_index(c));
    const uint8x8_t code =
        word_code_shift(c) == 0 ? vand_u8(codes, vdup_n_u8(15)) : vshr_n_u8(codes, 4);
    sum8(vmovl_s8(vqtbl1_s8(levels, code)), word_scale(args.row, args.n, c) * args.multiplier,
         args.position + c, from(args.segment, c), args.dst + c);
  }
  for (; c < args.n; ++c) {
    const int32_t segment = args.segment != nullptr ? args.segment[c] : 0;
    args.dst[c] = static_cast<int16_t>(embedding_value(
        word_level(args.levels, args.row, c), word_scale(args.row, args.n, c) * args.multiplier,
        args.position[c], segment));
  }
}

}  // namespace embert
