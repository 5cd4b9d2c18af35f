// SPDX-License-Identifier: Apache-2.0
// Embedding sum of 4 channels at a time. The multiplier is in two parts, because -128 times the
// whole does not fit 32 bits.
#include "kernels/helium/lanes_mve.hpp"
#include "kernels/variants.hpp"

namespace embert {

void embedding_s16_mve(const EmbeddingArgs& all) {
  const EmbeddingArgs args = all;  // a copy, which no store can change
  const int32_t upper = args.multiplier >> 16, lower = args.multiplier & 0xffff;
  by_fours(args.n, [&](size_t c, auto lanes) {
    const int32x4_t word = load4(args.word + c, lanes);
    int32x4_t sum = vmlaq_n_s32(load4(args.position + c, lanes), word, upper);
    sum = vaddq_s32(sum, vrshrq_n_s32(vmulq_n_s32(word, lower), 16));
    if (args.segment != nullptr) sum = vaddq_s32(sum, load4(args.segment + c, lanes));
    store4(args.dst + c, saturate16(sum), lanes);
  });
}

}  // namespace embert
