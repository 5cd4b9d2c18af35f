// SPDX-License-Identifier: Apache-2.0
// Embedding sum of 4 channels at a time. The multiplier is in two parts, because -128 times the
// whole does not fit 32 bits. Codes of 4 bits become levels by a gather load.
#include "kernels/helium/lanes_mve.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

/// Writes channels c to c + 3. Args: EmbeddingArgs or Embedding4BitArgs.
template <typename Args, typename Lanes>
EMBERT_INLINE void sum4(const Args& args, int32x4_t word, int32_t multiplier, size_t c,
                        Lanes lanes) {
  const int32_t upper = multiplier >> 16, lower = multiplier & 0xffff;
  int32x4_t sum = vmlaq_n_s32(load4(args.position + c, lanes), word, upper);
  sum = vaddq_s32(sum, vrshrq_n_s32(vmulq_n_s32(word, lower), 16));
  if (args.segment != nullptr) sum = vaddq_s32(sum, load4(args.segment + c, lanes));
  store4(args.dst + c, saturate16(sum), lanes);
}

}  // namespace

void embedding_s16_mve(const EmbeddingArgs& all) {
  const EmbeddingArgs args = all;  // a copy, which no store can change
  by_fours(args.n, [&](size_t c, auto lanes) {
    sum4(args, load4(args.word + c, lanes), args.multiplier, c, lanes);
  });
}

void embedding_4bit_mve(const Embedding4BitArgs& all) {
  const Embedding4BitArgs args = all;
  by_fours(args.n, [&](size_t c, auto lanes) {
    const uint32x4_t codes = vldrbq_u32(args.row + word_code_index(c));
    const uint32x4_t code =
        vandq_u32(vshlq_r_u32(codes, -word_code_shift(c)), vdupq_n_u32(kWordLevels - 1));
    sum4(args, vldrbq_gather_offset_s32(args.levels, code),
         word_scale(args.row, args.n, c) * args.multiplier, c, lanes);
  });
}

}  // namespace embert
