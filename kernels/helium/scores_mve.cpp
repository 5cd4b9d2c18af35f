// SPDX-License-Identifier: Apache-2.0
// Relative positions and masks of 4 keys at a time.
#include "kernels/helium/lanes_mve.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

EMBERT_INLINE int32x4_t gather(const int32_t* p, uint32x4_t steps, AllLanes) {
  return vldrwq_gather_shifted_offset_s32(p, steps);
}
EMBERT_INLINE int32x4_t gather(const int32_t* p, uint32x4_t steps, FirstLanes lanes) {
  return vldrwq_gather_shifted_offset_z_s32(p, steps, vctp32q(lanes.left));
}

}  // namespace

void add_relative_positions_mve(const AddRelativePositionsArgs& all) {
  const AddRelativePositionsArgs args = all;  // a copy, which no store can change
  // Offsets may be negative: addresses are modulo 2^32.
  const uint32x4_t steps = vmulq_n_u32(vidupq_n_u32(0, 1), static_cast<uint32_t>(args.col_step));
  const int32x4_t multiplier = vdupq_n_s32(args.multiplier);
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* products = args.products + static_cast<ptrdiff_t>(i) * args.row_step;
    int32_t* scores = args.scores + i * args.scores_stride;
    by_fours(args.n, [&](size_t j, auto lanes) {
      const int32x4_t product =
          gather(products + static_cast<ptrdiff_t>(j) * args.col_step, steps, lanes);
      const int32x4_t term = requantize4(product, multiplier, args.left, args.right);
      const int32x4_t sum = vqaddq_s32(load4(scores + j, lanes), term);
      store4(scores + j, clamp4(sum, 1 - kScoreBound, kScoreBound - 1), lanes);
    });
  }
}

void mask_scores_mve(const MaskScoresArgs& all) {
  const MaskScoresArgs args = all;
  const int32x4_t masked = vdupq_n_s32(kMaskedScore);
  for (size_t i = 0; i < args.m; ++i) {
    int32_t* scores = args.scores + i * args.scores_stride;
    const uint8_t* pair =
        args.pair_mask != nullptr ? args.pair_mask + i * args.pair_stride : nullptr;
    const size_t reach = causal_reach(args.n, args.visible, i);
    const size_t open = args.query_mask == nullptr || args.query_mask[i] != 0 ? reach : 0;
    uint32_t any = 0;
    by_fours(args.n, [&](size_t j, auto lanes) {
      mve_pred16_t seen = vctp32q(j < open ? open - j : 0);
      if (args.key_mask != nullptr) {
        seen = vcmpneq_m_n_u32(vldrbq_z_u32(args.key_mask + j, seen), 0, seen);
      }
      if (pair != nullptr) seen = vcmpneq_m_n_u32(vldrbq_z_u32(pair + j, seen), 0, seen);
      store4(scores + j, vpselq_s32(load4(scores + j, lanes), masked, seen), lanes);
      any |= seen;
    });
    if (any != 0) continue;
    by_fours(reach, [&](size_t j, auto lanes) { store4(scores + j, vdupq_n_s32(0), lanes); });
  }
}

}  // namespace embert
