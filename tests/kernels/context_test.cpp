// SPDX-License-Identifier: Apache-2.0
// Contexts against the scalar kernel.
#include "tests/kernels/op_harness.hpp"

namespace embert {
namespace {

using RequantizeContextTest = SeededTest;

TEST_F(RequantizeContextTest, EqualsScalar) {
  const auto variants = variants_of(&Kernels::requantize_context);
  Draws draws(3);
  size_t turn = 0;
  for (int repeat = 0; repeat < 32; ++repeat) {
    for (const RowShape& s : row_shapes(draws)) {
      if (s.n > 384) continue;
      const size_t columns = pad_columns(s.n), acc_stride = 2 * columns + s.acc_stride - columns;
      Guarded<int32_t> acc(extent(s.m, acc_stride, 2 * columns), 64);
      Guarded<int32_t> multiplier(columns);
      Guarded<Reciprocal> row(s.m);
      Guarded<int16_t> expected(extent(s.m, s.dst_stride, s.n));
      for (size_t i = 0; i < s.m; ++i) {
        const int32_t sum = draws.in32(1, (1 << 24) - 1);
        // With the head's factor, if it has one.
        row[i] = scale_reciprocal(reciprocal(static_cast<uint32_t>(sum)),
                                  draws.below(2) == 0 ? 32768 : draws.in32(0, 32768));
        const int64_t bound = int64_t{127} * sum;
        for (size_t c = 0; c < 2 * columns; ++c) {
          acc[i * acc_stride + c] = draws.in32(-bound, bound);
        }
      }
      fill_multipliers(draws, multiplier.data(), columns);
      RequantizeContextArgs args = {};
      args.m = s.m, args.n = s.n;
      args.acc = acc.data(), args.acc_stride = acc_stride;
      args.row = row.data();
      args.factor.multiplier = multiplier.data();
      set_shifts(turn++, &args.factor);
      args.dst_stride = s.dst_stride;
      ASSERT_NO_FATAL_FAILURE(expect_equals_scalar(variants, args, &expected));
    }
  }
}

}  // namespace
}  // namespace embert
