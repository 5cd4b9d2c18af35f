// SPDX-License-Identifier: Apache-2.0
// Residual sums against the scalar kernel, in place and not.
#include "tests/kernels/op_harness.hpp"

namespace embert {
namespace {

using RequantizeResidualTest = SeededTest;

TEST_F(RequantizeResidualTest, EqualsScalar) {
  const auto variants = variants_of(&Kernels::requantize_residual);
  Draws draws(2);
  size_t turn = 0;
  for (int repeat = 0; repeat < 32; ++repeat) {
    for (const RowShape& s : row_shapes(draws)) {
      Guarded<int32_t> acc(extent(s.m, s.acc_stride, pad_columns(s.n)), 64);
      const ResidualOperands operands(draws, s.m, s.n, extent(s.m, s.dst_stride, s.n));
      const Guarded<int16_t>& residual = operands.residual;
      Guarded<int16_t> expected(residual.size());
      fill_accumulators(draws, acc.data(), acc.size());
      RequantizeResidualArgs args = {};
      args.m = s.m, args.n = s.n;
      args.acc = acc.data(), args.acc_stride = s.acc_stride;
      operands.give_to(&args);
      set_shifts(turn++, &args.factor);
      args.dst_stride = s.dst_stride;
      args.residual = residual.data();
      ASSERT_NO_FATAL_FAILURE(expect_equals_scalar(variants, args, &expected));
      for (const auto& variant : variants) {
        Guarded<int16_t> both(residual.size());
        both.copy_from(residual);
        args.residual = args.dst = both.data();
        variant.function(args);
        for (size_t i = 0; i < s.m; ++i) {
          ASSERT_EQ(memcmp(both.data() + i * s.dst_stride, expected.data() + i * s.dst_stride,
                           s.n * sizeof(int16_t)),
                    0)
              << variant.name << " in place, m " << s.m << " n " << s.n;
        }
      }
    }
  }
}

// Kernels take rows in chunks.
TEST_F(RequantizeResidualTest, ManyRows) {
  const auto variants = variants_of(&Kernels::requantize_residual);
  Draws draws(4);
  for (const size_t m : {size_t{31}, size_t{33}, size_t{64}, size_t{75}}) {
    for (size_t turn = 0; turn < 47; ++turn) {
      const size_t n = 16 + draws.below(81);
      Guarded<int32_t> acc(extent(m, pad_columns(n), pad_columns(n)), 64);
      fill_accumulators(draws, acc.data(), acc.size());
      const ResidualOperands operands(draws, m, n, m * n);
      RequantizeResidualArgs args = {};
      args.m = m, args.n = n;
      args.acc = acc.data(), args.acc_stride = pad_columns(n);
      operands.give_to(&args);
      set_shifts(turn, &args.factor);
      args.dst_stride = n;
      args.residual = operands.residual.data();
      Guarded<int16_t> expected(m * n);
      ASSERT_NO_FATAL_FAILURE(expect_equals_scalar(variants, args, &expected));
    }
  }
}

// Without a right shift a kernel may compute small sums, those which one more bit to the left does
// not saturate, in another way and asks that of many sums at once. Here are only small ones up to
// the largest; among them a larger one or 16 columns of larger ones; and sums of twice and four
// times the size.
TEST_F(RequantizeResidualTest, SumsAroundTheBound) {
  const auto variants = variants_of(&Kernels::requantize_residual);
  Draws draws(3);
  for (size_t turn = 0; turn < 1200; ++turn) {
    const size_t m = 1 + draws.below(4), n = 1 + draws.below(96), stride = pad_columns(n);
    Guarded<int32_t> acc(m * stride, 64);
    const ResidualOperands operands(draws, m, n, m * n);
    RequantizeResidualArgs args = {};
    args.m = m, args.n = n;
    args.acc = acc.data(), args.acc_stride = stride;
    operands.give_to(&args);
    args.factor.left = static_cast<int32_t>(turn % 16);
    args.dst_stride = n;
    const int32_t bound = (1 << 30) >> args.factor.left;
    const int64_t most = int64_t{bound} << draws.below(3);
    for (size_t i = 0; i < acc.size(); ++i) {
      acc[i] = draws.in32(sat32(-most), sat32(most - 1));
      if (draws.below(4) == 0) acc[i] = acc[i] < 0 ? -bound : bound - 1;
    }
    const size_t kind = draws.below(3);
    if (kind == 1) {
      const int32_t larger[] = {bound, -bound - 1, INT32_MAX, INT32_MIN};
      acc[draws.below(m) * stride + draws.below(n)] = larger[draws.below(4)];
    }
    if (kind == 2) {
      const size_t column = 16 * draws.below(stride / 16);
      for (size_t i = 0; i < 16 * m; ++i) {
        acc[i / 16 * stride + column + i % 16] = draws.in32(bound, sat32(3 * int64_t{bound} - 1));
      }
    }
    args.residual = operands.residual.data();
    Guarded<int16_t> expected(m * n);
    ASSERT_NO_FATAL_FAILURE(expect_equals_scalar(variants, args, &expected));
  }
}

}  // namespace
}  // namespace embert
