// SPDX-License-Identifier: Apache-2.0
#include "kernels/arithmetic/layout.hpp"
#include "kernels/variants.hpp"

namespace embert {

void softmax_u8_s32_scalar(const SoftmaxArgs& args) {
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* scores = args.scores + i * args.scores_stride;
    uint8_t* dst = args.dst + i * args.dst_stride;
    int32_t highest = scores[0];
    for (size_t j = 1; j < args.n; ++j) {
      if (scores[j] > highest) highest = scores[j];
    }
    uint32_t sum = 0;
    for (size_t j = 0; j < args.n; ++j) {
      const int32_t distance =
          highest - scores[j];  // read before dst[j], which may lie in the same row
      const int32_t capped = distance < args.score_cap ? distance : args.score_cap;
      const int32_t e = exp2_u8(exp2_index(static_cast<uint32_t>(capped), args.score_multiplier));
      sum += static_cast<uint32_t>(e);
      dst[j] = static_cast<uint8_t>(e) ^ kUnsignedLhsFlip;
    }
    for (size_t j = args.n; j < pad_inputs(args.n); ++j) dst[j] = kUnsignedLhsFlip;
    args.row[i] = reciprocal(sum);
  }
}

void attention_probabilities_scalar(const AttentionProbabilitiesArgs& args) {
  for (size_t i = 0; i < args.m; ++i) {
    const uint8_t* src = args.exponentials + i * args.exponentials_stride;
    for (size_t j = 0; j < args.n; ++j) {
      const int32_t p = probability_q15(src[j] ^ kUnsignedLhsFlip, args.row[i]);
      args.dst[i * args.dst_stride + j] = static_cast<uint16_t>(p < 65535 ? p : 65535);
    }
  }
}

}  // namespace embert
