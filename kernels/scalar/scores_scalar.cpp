// SPDX-License-Identifier: Apache-2.0
#include "kernels/variants.hpp"

namespace embert {

void add_relative_positions_scalar(const AddRelativePositionsArgs& args) {
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* products = args.products + static_cast<ptrdiff_t>(i) * args.row_step;
    int32_t* scores = args.scores + i * args.scores_stride;
    for (size_t j = 0; j < args.n; ++j) {
      scores[j] = relative_score(scores[j], products[static_cast<ptrdiff_t>(j) * args.col_step],
                                 args.multiplier, args.left, args.right);
    }
  }
}

void mask_distant_scalar(const MaskDistantArgs& args) {
  for (size_t i = 0; i < args.m; ++i) {
    int32_t* scores = args.scores + i * args.scores_stride;
    const size_t own = args.diagonal + i;
    const size_t first = own > args.reach ? own - args.reach : 0, end = own + args.reach + 1;
    for (size_t j = 0; j < first && j < args.n; ++j) scores[j] = kMaskedScore;
    for (size_t j = end; j < args.n; ++j) scores[j] = kMaskedScore;
  }
}

void mask_scores_scalar(const MaskScoresArgs& args) {
  for (size_t i = 0; i < args.m; ++i) {
    int32_t* scores = args.scores + i * args.scores_stride;
    const uint8_t* pair =
        args.pair_mask != nullptr ? args.pair_mask + i * args.pair_stride : nullptr;
    const bool query = args.query_mask == nullptr || args.query_mask[i] != 0;
    const size_t reach = causal_reach(args.n, args.visible, i);
    bool any = false;
    for (size_t j = 0; j < args.n; ++j) {
      const bool seen = j < reach && query && (args.key_mask == nullptr || args.key_mask[j] != 0) &&
                        (pair == nullptr || pair[j] != 0);
      if (!seen) scores[j] = kMaskedScore;
      any |= seen;
    }
    for (size_t j = 0; j < reach && !any; ++j) scores[j] = 0;
  }
}

}  // namespace embert
