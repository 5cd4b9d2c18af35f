// SPDX-License-Identifier: Apache-2.0
// Relative positions, local attention and masks: every variant against plain formulas of this test.
#include <set>

#include "tests/kernels/op_harness.hpp"

namespace embert {
namespace {

using AddRelativeTest = SeededTest;
using MaskDistantTest = SeededTest;
using MaskScoresTest = SeededTest;

std::vector<size_t> key_counts() {
  std::vector<size_t> counts;
  for (size_t n = 1; n <= 70; ++n) counts.push_back(n);
  counts.push_back(127);
  counts.push_back(512);
  return counts;
}

// The products lie as a GEMM leaves them, one row a query or one row a key, or all queries have the
// same row; the kernel walks along their diagonals, at relative position j - i.
TEST_F(AddRelativeTest, EqualsThePlainSum) {
  const auto variants = variants_of(&Kernels::add_relative_positions);
  Draws draws(61);
  size_t turn = 0;
  for (int repeat = 0; repeat < 12; ++repeat) {
    for (const size_t n : key_counts()) {
      const size_t m = 1 + draws.below(9), stride = n + draws.below(5);
      enum { kByQuery, kByKey, kOneRow } kind = kByQuery;
      if (const auto draw = draws.below(3); draw > 0) kind = draw == 1 ? kByKey : kOneRow;
      // Relative position p lies in column p + m - 1 of m + n - 1.
      const size_t rows = kind == kByQuery ? m
                          : kind == kByKey ? n
                                           : 1,
                   columns = m + n - 1, step = kind == kOneRow ? 0 : columns + draws.below(9);
      Guarded<int32_t> products((rows - 1) * step + columns), before((m - 1) * stride + n);
      Guarded<int32_t> expected(before.size());
      fill_accumulators(draws, products.data(), products.size());
      for (int32_t& s : before) s = draws.in32(1 - kScoreBound, kScoreBound - 1);
      int32_t multiplier;
      fill_multipliers(draws, &multiplier, 1);
      Requantize factor = {&multiplier, 0, 0};
      set_shifts(turn++, &factor);
      expected.copy_from(before);
      for (size_t i = 0; i < m; ++i) {
        for (size_t j = 0; j < n; ++j) {
          const int32_t product = products[(kind == kByKey ? j : i) * step + j + m - 1 - i];
          const int64_t sum = before[i * stride + j] + plain_requantize(product, factor, 0);
          const int64_t bound = (1 << 22) - 1;
          expected[i * stride + j] = static_cast<int32_t>(sum > bound    ? bound
                                                          : sum < -bound ? -bound
                                                                         : sum);
        }
      }
      AddRelativePositionsArgs args = {};
      args.m = m, args.n = n;
      args.products = products.data() + m - 1;
      args.row_step = kind == kByKey ? -1 : static_cast<ptrdiff_t>(step) - 1;
      args.col_step = kind == kByKey ? static_cast<ptrdiff_t>(step) + 1 : 1;
      args.multiplier = multiplier, args.left = factor.left, args.right = factor.right;
      args.scores_stride = stride;
      for (const auto& variant : variants) {
        Guarded<int32_t> actual(before.size());
        actual.copy_from(before);
        args.scores = actual.data();
        variant.function(args);
        ASSERT_TRUE(actual.same_as(expected))
            << variant.name << " m " << m << " n " << n << " kind " << kind;
      }
    }
  }
}

TEST_F(MaskDistantTest, HidesTheKeysBeyondReach) {
  const auto variants = variants_of(&Kernels::mask_distant);
  Draws draws(65);
  for (int repeat = 0; repeat < 12; ++repeat) {
    for (const size_t n : key_counts()) {
      const size_t m = 1 + draws.below(9), stride = n + draws.below(5);
      const size_t diagonal = draws.below(n), reach = draws.below(n + 3);
      Guarded<int32_t> before((m - 1) * stride + n), expected(before.size());
      for (int32_t& s : before) s = draws.in32(1 - kScoreBound, kScoreBound - 1);
      expected.copy_from(before);
      for (size_t i = 0; i < m; ++i) {
        for (size_t j = 0; j < n; ++j) {
          const size_t own = diagonal + i, distance = own > j ? own - j : j - own;
          if (distance > reach) expected[i * stride + j] = -1073741824;
        }
      }
      for (const auto& variant : variants) {
        Guarded<int32_t> actual(before.size());
        actual.copy_from(before);
        variant.function({.m = m,
                          .n = n,
                          .scores = actual.data(),
                          .scores_stride = stride,
                          .diagonal = diagonal,
                          .reach = reach});
        ASSERT_TRUE(actual.same_as(expected)) << variant.name << " m " << m << " n " << n
                                              << " diagonal " << diagonal << " reach " << reach;
      }
    }
  }
}

// Of a mask nothing, a little, or all but a little is 0.
void fill_mask(Draws& draws, uint8_t* mask, size_t n) {
  const size_t kept = draws.below(4), hidden = draws.below(4);
  for (size_t j = 0; j < n; ++j) {
    mask[j] = draws.below(kept + hidden + 1) < hidden ? uint8_t{0}
                                                      : static_cast<uint8_t>(1 + draws.below(255));
  }
}

TEST_F(MaskScoresTest, HidesTheKeysThatTheMasksHide) {
  const auto variants = variants_of(&Kernels::mask_scores);
  Draws draws(62);
  size_t empty_rows = 0;
  for (int repeat = 0; repeat < 24; ++repeat) {
    for (const size_t n : key_counts()) {
      const size_t m = 1 + draws.below(9), stride = n + draws.below(5);
      const size_t pair_stride = n + draws.below(5);
      Guarded<int32_t> before((m - 1) * stride + n);
      Guarded<uint8_t> key_mask(n), query_mask(m), pair_mask((m - 1) * pair_stride + n);
      for (int32_t& s : before) s = draws.in32(1 - kScoreBound, kScoreBound - 1);
      fill_mask(draws, key_mask.data(), n);
      fill_mask(draws, query_mask.data(), m);
      fill_mask(draws, pair_mask.data(), pair_mask.size());
      const size_t masks = draws.below(8), causal = draws.below(3);
      MaskScoresArgs args = {};
      args.m = m, args.n = n, args.scores_stride = stride;
      args.visible = causal == 0 ? 1 + draws.below(n) : causal == 1 ? n + draws.below(2) : SIZE_MAX;
      args.key_mask = (masks & 1) != 0 ? key_mask.data() : nullptr;
      args.pair_mask = (masks & 2) != 0 ? pair_mask.data() : nullptr;
      args.pair_stride = pair_stride;
      args.query_mask = (masks & 4) != 0 ? query_mask.data() : nullptr;

      Guarded<int32_t> expected(before.size());
      expected.copy_from(before);
      for (size_t i = 0; i < m; ++i) {
        // The keys that causality allows, and those of them that no mask hides.
        std::set<size_t> may, sees;
        for (size_t j = 0; j < n; ++j) {
          if (args.visible > n || j < args.visible + i) may.insert(j);
        }
        for (const size_t j : may) {
          const bool hidden = ((masks & 1) != 0 && key_mask[j] == 0) ||
                              ((masks & 2) != 0 && pair_mask[i * pair_stride + j] == 0) ||
                              ((masks & 4) != 0 && query_mask[i] == 0);
          if (!hidden) sees.insert(j);
        }
        if (sees.empty()) ++empty_rows;
        for (size_t j = 0; j < n; ++j) {
          if (sees.count(j) == 0) expected[i * stride + j] = -1073741824;
          if (sees.empty() && may.count(j) != 0) expected[i * stride + j] = 0;
        }
      }
      for (const auto& variant : variants) {
        Guarded<int32_t> actual(before.size());
        actual.copy_from(before);
        args.scores = actual.data();
        variant.function(args);
        ASSERT_TRUE(actual.same_as(expected)) << variant.name << " m " << m << " n " << n
                                              << " masks " << masks << " visible " << args.visible;
      }
    }
  }
  EXPECT_GT(empty_rows, 100u);
}

}  // namespace
}  // namespace embert
