// SPDX-License-Identifier: Apache-2.0
// The gate: every variant against plain formulas of this test.
#include "tests/kernels/op_harness.hpp"

namespace embert {
namespace {

using RequantizeGateTest = SeededTest;

TEST_F(RequantizeGateTest, MultipliesByTheGate) {
  const auto variants = variants_of(&Kernels::requantize_gate);
  Draws draws(64);
  size_t turn = 0;
  for (int repeat = 0; repeat < 8; ++repeat) {
    for (const RowShape& s : row_shapes(draws)) {
      Guarded<int32_t> acc(extent(s.m, s.acc_stride, pad_columns(s.n)), 64);
      Guarded<int32_t> multiplier(pad_columns(s.n));
      Guarded<int16_t> before(extent(s.m, s.dst_stride, s.n)), expected(before.size());
      fill_accumulators(draws, acc.data(), acc.size());
      fill_multipliers(draws, multiplier.data(), multiplier.size());
      for (int16_t& value : before) value = draws.in16(0, 32767);
      Requantize factor = {multiplier.data(), 0, 0};
      set_shifts(turn++, &factor);
      const int32_t offset = draws.in32(0, 32767), shift = static_cast<int32_t>(draws.below(16));
      expected.copy_from(before);
      for (size_t i = 0; i < s.m; ++i) {
        for (size_t c = 0; c < s.n; ++c) {
          const int64_t gate =
              clamp<int64_t>(plain_requantize(acc[i * s.acc_stride + c], factor, c), -32767, 32767);
          int16_t& value = expected[i * s.dst_stride + c];
          const int64_t product = plain_shift_round((value - offset) * gate, shift);
          value = static_cast<int16_t>(clamp<int64_t>(product, -32767, 32767));
        }
      }
      for (const auto& variant : variants) {
        Guarded<int16_t> actual(before.size());
        actual.copy_from(before);
        variant.function({.m = s.m,
                          .n = s.n,
                          .acc = acc.data(),
                          .acc_stride = s.acc_stride,
                          .factor = factor,
                          .offset = offset,
                          .shift = shift,
                          .values = actual.data(),
                          .stride = s.dst_stride});
        ASSERT_TRUE(actual.same_as(expected)) << variant.name << " m " << s.m << " n " << s.n
                                              << " offset " << offset << " shift " << shift;
      }
    }
  }
}

}  // namespace
}  // namespace embert
