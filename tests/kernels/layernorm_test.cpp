// SPDX-License-Identifier: Apache-2.0
// LayerNorm against the scalar kernel.
#include "tests/kernels/op_harness.hpp"

namespace embert {
namespace {

using LayerNormTest = SeededTest;

TEST_F(LayerNormTest, EqualsScalar) {
  const auto variants = variants_of(&Kernels::layernorm);
  Draws draws(11);
  std::vector<size_t> sizes = tail_sizes();
  sizes.push_back(768);
  sizes.push_back(4095);
  sizes.push_back(4096);
  for (int repeat = 0; repeat < 64; ++repeat) {
    for (size_t n : sizes) {
      const size_t m = n > 500 ? 1 + draws.below(3) : 1 + draws.below(40);
      const size_t stride = n + draws.below(5), count = (m - 1) * stride + n;
      Guarded<int16_t> src(count), expected(count);
      Guarded<int32_t> gain(n), bias(n);
      for (size_t i = 0; i < m; ++i) fill_row(draws, &src[i * stride], n, -32768, 32767);
      for (size_t c = 0; c < n; ++c) {
        gain[c] = draws.in32(-INT32_MAX, INT32_MAX);
        bias[c] = draws.in32(-(1 << 29) + 1, (1 << 29) - 1);
      }
      const int64_t epsilon_n2 = draws.in(1, int64_t{1} << (draws.below(4) == 0 ? 54 : 20));
      LayerNormArgs args = {.m = m,
                            .n = n,
                            .src = src.data(),
                            .dst = expected.data(),
                            .stride = stride,
                            .epsilon_n2 = epsilon_n2,
                            .gain = gain.data(),
                            .bias = bias.data(),
                            .shift = 8 + static_cast<int32_t>(draws.below(31))};
      variants[0].function(args);
      for (const auto& variant : variants) {
        Guarded<int16_t> actual(count);
        args.src = src.data(), args.dst = actual.data();
        variant.function(args);
        ASSERT_TRUE(actual.same_as(expected))
            << variant.name << " m " << m << " n " << n << " shift " << args.shift;
        actual.copy_from(src);
        args.src = args.dst = actual.data();
        variant.function(args);
        for (size_t i = 0; i < m; ++i) {
          ASSERT_EQ(memcmp(&actual[i * stride], &expected[i * stride], 2 * n), 0)
              << variant.name << " in place, m " << m << " n " << n;
        }
      }
    }
  }
}

}  // namespace
}  // namespace embert
