// SPDX-License-Identifier: Apache-2.0
// Rotary positions: every variant against plain formulas of this test.
#include "tests/kernels/op_harness.hpp"

namespace embert {
namespace {

using RotateTest = SeededTest;

TEST_F(RotateTest, TurnsPairsOfChannels) {
  const auto variants = variants_of(&Kernels::rotate);
  Draws draws(63);
  size_t turn = 0;
  for (int repeat = 0; repeat < 8; ++repeat) {
    for (size_t n = 2; n <= 128; n += 2) {
      const size_t m = 1 + draws.below(9), half = n / 2;
      const size_t stride = pad_columns(n) + 16 * draws.below(2);
      Guarded<int32_t> before(extent(m, stride, n), 64), expected(before.size(), 64);
      Guarded<int32_t> multiplier(n);
      Guarded<int16_t> angles(m * n);
      fill_accumulators(draws, before.data(), before.size());
      fill_multipliers(draws, multiplier.data(), n);
      for (int16_t& angle : angles) angle = draws.in16(-16384, 16384);
      Requantize factor = {multiplier.data(), 0, 0};
      set_shifts(turn++, &factor);
      expected.copy_from(before);
      for (size_t t = 0; t < m; ++t) {
        const auto column = [&](size_t c) {
          return clamp<int64_t>(plain_requantize(before[t * stride + c], factor, c), -32767, 32767);
        };
        for (size_t i = 0; i < half; ++i) {
          const int64_t a = column(i), b = column(i + half);
          const int64_t cosine = angles[t * n + i], sine = angles[t * n + i + half];
          expected[t * stride + i] =
              static_cast<int32_t>(plain_shift_round(a * cosine - b * sine, 14));
          expected[t * stride + i + half] =
              static_cast<int32_t>(plain_shift_round(b * cosine + a * sine, 14));
        }
      }
      for (const auto& variant : variants) {
        Guarded<int32_t> actual(before.size(), 64);
        actual.copy_from(before);
        variant.function({.m = m,
                          .n = n,
                          .acc = actual.data(),
                          .acc_stride = stride,
                          .factor = factor,
                          .angles = angles.data()});
        ASSERT_TRUE(actual.same_as(expected)) << variant.name << " m " << m << " n " << n;
      }
    }
  }
}

}  // namespace
}  // namespace embert
