// SPDX-License-Identifier: Apache-2.0
// Relative positions of 4 keys and masks of 8, tails by the reference arithmetic.
#include "kernels/arm/lanes_neon.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

// kNeighbours: col_step is 1; otherwise the products of a row are loaded one by one.
template <bool kRight, bool kNeighbours>
void add(const AddRelativePositionsArgs& args) {
  const int32x4_t count = vdupq_n_s32(args.left - args.right);
  const int32x4_t multiplier = vdupq_n_s32(args.multiplier);
  const int32x4_t top = vdupq_n_s32(kScoreBound - 1), bottom = vdupq_n_s32(1 - kScoreBound);
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* products = args.products + static_cast<ptrdiff_t>(i) * args.row_step;
    int32_t* scores = args.scores + i * args.scores_stride;
    const auto at = [&](size_t j) { return products + static_cast<ptrdiff_t>(j) * args.col_step; };
    size_t j = 0;
    for (; j + 4 <= args.n; j += 4) {
      int32x4_t product;
      if (kNeighbours) {
        product = vld1q_s32(products + j);
      } else {
        product = vld1q_dup_s32(at(j));
        product = vld1q_lane_s32(at(j + 1), product, 1);
        product = vld1q_lane_s32(at(j + 2), product, 2);
        product = vld1q_lane_s32(at(j + 3), product, 3);
      }
      const int32x4_t term = requantize<kRight>(product, multiplier, count);
      const int32x4_t sum = vqaddq_s32(vld1q_s32(scores + j), term);
      vst1q_s32(scores + j, vmaxq_s32(vminq_s32(sum, top), bottom));
    }
    for (; j < args.n; ++j) {
      scores[j] = relative_score(scores[j], *at(j), args.multiplier, args.left, args.right);
    }
  }
}

// Sets all bits of the bytes that are not 0.
EMBERT_INLINE uint8x8_t not_zero(const uint8_t* bytes) {
  const uint8x8_t x = vld1_u8(bytes);
  return vtst_u8(x, x);
}

}  // namespace

void add_relative_positions_neon(const AddRelativePositionsArgs& args) {
  if (args.col_step == 1) {
    args.right != 0 ? add<true, true>(args) : add<false, true>(args);
  } else {
    args.right != 0 ? add<true, false>(args) : add<false, false>(args);
  }
}

void mask_scores_neon(const MaskScoresArgs& args) {
  const int32x4_t masked = vdupq_n_s32(kMaskedScore);
  const uint8x8_t lane = vcreate_u8(0x0706050403020100);
  for (size_t i = 0; i < args.m; ++i) {
    int32_t* scores = args.scores + i * args.scores_stride;
    const uint8_t* key = args.key_mask;
    const uint8_t* pair =
        args.pair_mask != nullptr ? args.pair_mask + i * args.pair_stride : nullptr;
    const size_t reach = causal_reach(args.n, args.visible, i);
    const size_t open = args.query_mask == nullptr || args.query_mask[i] != 0 ? reach : 0;
    uint8x8_t seen_lanes = vdup_n_u8(0);
    size_t j = 0;
    for (; j + 8 <= args.n; j += 8) {
      const size_t left = j >= open ? 0 : open - j < 8 ? open - j : 8;
      uint8x8_t seen = vclt_u8(lane, vdup_n_u8(static_cast<uint8_t>(left)));
      if (key != nullptr) seen = vand_u8(seen, not_zero(key + j));
      if (pair != nullptr) seen = vand_u8(seen, not_zero(pair + j));
      const int16x8_t wide = vmovl_s8(vreinterpret_s8_u8(seen));
      const uint32x4_t low = vreinterpretq_u32_s32(vmovl_s16(vget_low_s16(wide)));
      const uint32x4_t high = vreinterpretq_u32_s32(vmovl_high_s16(wide));
      vst1q_s32(scores + j, vbslq_s32(low, vld1q_s32(scores + j), masked));
      vst1q_s32(scores + j + 4, vbslq_s32(high, vld1q_s32(scores + j + 4), masked));
      seen_lanes = vorr_u8(seen_lanes, seen);
    }
    bool any = vmaxv_u8(seen_lanes) != 0;
    for (; j < args.n; ++j) {
      const bool seen =
          j < open && (key == nullptr || key[j] != 0) && (pair == nullptr || pair[j] != 0);
      if (!seen) scores[j] = kMaskedScore;
      any |= seen;
    }
    if (!any) memset(scores, 0, reach * sizeof(int32_t));
  }
}

}  // namespace embert
