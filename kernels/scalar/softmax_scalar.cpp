// SPDX-License-Identifier: Apache-2.0
#include "kernels/arithmetic/layout.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

template <size_t kPlanes>
void softmax(const SoftmaxArgs& args) {
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* scores = args.scores + i * args.scores_stride;
    uint8_t* dst = args.dst + kPlanes * i * args.dst_stride;
    int32_t highest = scores[0];
    for (size_t j = 1; j < args.n; ++j) {
      if (scores[j] > highest) highest = scores[j];
    }
    uint32_t sum = 0;
    for (size_t j = 0; j < args.n; ++j) {
      const int32_t distance =
          highest - scores[j];  // read before dst[j], which may lie in the same row
      const int32_t capped = distance < args.score_cap ? distance : args.score_cap;
      const uint32_t index = exp2_index(static_cast<uint32_t>(capped), args.score_multiplier);
      const int32_t e = kPlanes == 1 ? exp2_u8(index) : exp2_u14(index);
      sum += static_cast<uint32_t>(e);
      if (kPlanes > 1) dst[j] = static_cast<uint8_t>(e >> 8) ^ kUnsignedLhsFlip;
      dst[(kPlanes - 1) * args.dst_stride + j] = static_cast<uint8_t>(e) ^ kUnsignedLhsFlip;
    }
    for (size_t j = args.n; j < pad_inputs(args.n); ++j) {
      for (size_t plane = 0; plane < kPlanes; ++plane) {
        dst[plane * args.dst_stride + j] = kUnsignedLhsFlip;
      }
    }
    args.row[i] = reciprocal(sum);
  }
}

}  // namespace

void softmax_u8_s32_scalar(const SoftmaxArgs& args) { softmax<1>(args); }
void softmax_u8x2_s32_scalar(const SoftmaxArgs& args) { softmax<2>(args); }

void attention_probabilities_scalar(const AttentionProbabilitiesArgs& args) {
  for (size_t i = 0; i < args.m; ++i) {
    const uint8_t* high = args.exponentials + args.planes * i * args.exponentials_stride;
    const uint8_t* low = high + (args.planes - 1) * args.exponentials_stride;
    for (size_t j = 0; j < args.n; ++j) {
      int32_t e = low[j] ^ kUnsignedLhsFlip;
      if (args.planes > 1) e += 256 * (high[j] ^ kUnsignedLhsFlip);
      const int32_t p = probability_q15(e, args.row[i]);
      args.dst[i * args.dst_stride + j] = static_cast<uint16_t>(p < 65535 ? p : 65535);
    }
  }
}

}  // namespace embert
