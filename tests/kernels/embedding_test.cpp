// SPDX-License-Identifier: Apache-2.0
// Embedding sums against the scalar kernel, those of given vectors against plain formulas.
#include "tests/kernels/op_harness.hpp"

namespace embert {
namespace {

using EmbeddingTest = SeededTest;

TEST_F(EmbeddingTest, EqualsScalar) {
  const auto variants = variants_of(&Kernels::embedding);
  Draws draws(15);
  for (int repeat = 0; repeat < 60; ++repeat) {
    for (size_t n : tail_sizes()) {
      Guarded<int8_t> word(n);
      Guarded<int16_t> position(n), segment(n), expected(n);
      for (size_t c = 0; c < n; ++c) {
        word[c] = static_cast<int8_t>(draws.in(-128, 127));
        position[c] = draws.in16(-32768, 32767);
        segment[c] = draws.in16(-32768, 32767);
      }
      EmbeddingArgs args = {.n = n,
                            .word = word.data(),
                            .multiplier = draws.in32(0, 16909320),
                            .position = position.data(),
                            .segment = repeat % 2 == 0 ? segment.data() : nullptr,
                            .dst = expected.data()};
      variants[0].function(args);
      for (const auto& variant : variants) {
        Guarded<int16_t> actual(n);
        args.dst = actual.data();
        variant.function(args);
        ASSERT_TRUE(actual.same_as(expected)) << variant.name << " n " << n;
      }
    }
  }
}

TEST_F(EmbeddingTest, RowsOfFourBitsAreThePlainSum) {
  const auto variants = variants_of(&Kernels::embedding_4bit);
  Draws draws(17);
  for (int repeat = 0; repeat < 30; ++repeat) {
    for (size_t n : tail_sizes()) {
      const size_t groups = (n + 31) / 32;
      Guarded<uint8_t> row(groups * 17);
      Guarded<int8_t> levels(16);
      Guarded<int16_t> position(n), segment(n), expected(n);
      const bool with_segment = repeat % 2 == 0;
      const int32_t multiplier = draws.in32(0, 1 << 17);
      for (uint8_t& byte : row) byte = static_cast<uint8_t>(draws.in(0, 255));
      for (int8_t& level : levels) level = static_cast<int8_t>(draws.in(-127, 127));
      for (size_t c = 0; c < n; ++c) {
        position[c] = draws.in16(-32768, 32767);
        segment[c] = draws.in16(-32768, 32767);
        const uint8_t codes = row[c / 32 * 16 + c % 16];
        const int64_t level = levels[c % 32 < 16 ? codes % 16 : codes / 16];
        const int64_t scale = static_cast<int8_t>(row[groups * 16 + c / 32]);
        expected[c] = plain_sat16(plain_shift_round(level * scale * multiplier, 16) + position[c] +
                                  (with_segment ? segment[c] : 0));
      }
      for (const auto& variant : variants) {
        Guarded<int16_t> actual(n);
        variant.function({.n = n,
                          .levels = levels.data(),
                          .row = row.data(),
                          .multiplier = multiplier,
                          .position = position.data(),
                          .segment = with_segment ? segment.data() : nullptr,
                          .dst = actual.data()});
        ASSERT_TRUE(actual.same_as(expected)) << variant.name << " n " << n;
      }
    }
  }
}

TEST_F(EmbeddingTest, GivenVectorsAreThePlainSum) {
  const auto variants = variants_of(&Kernels::embedding_vector);
  Draws draws(16);
  for (int repeat = 0; repeat < 30; ++repeat) {
    for (size_t n : tail_sizes()) {
      Guarded<int16_t> src(n), position(n), segment(n), expected(n);
      const bool with_segment = repeat % 2 == 0;
      const int32_t multiplier = draws.in32(0, INT32_MAX);
      for (size_t c = 0; c < n; ++c) {
        src[c] = draws.in16(-32768, 32767);
        position[c] = draws.in16(-32768, 32767);
        segment[c] = draws.in16(-32768, 32767);
        expected[c] = plain_sat16(plain_shift_round(int64_t{src[c]} * multiplier, 16) +
                                  position[c] + (with_segment ? segment[c] : 0));
      }
      EmbeddingVectorArgs args = {.n = n,
                                  .src = src.data(),
                                  .multiplier = multiplier,
                                  .position = position.data(),
                                  .segment = with_segment ? segment.data() : nullptr,
                                  .dst = nullptr};
      for (const auto& variant : variants) {
        Guarded<int16_t> actual(n), both(n);
        args.src = src.data(), args.dst = actual.data();
        variant.function(args);
        ASSERT_TRUE(actual.same_as(expected)) << variant.name << " n " << n;
        both.copy_from(src);
        args.src = args.dst = both.data();
        variant.function(args);
        ASSERT_TRUE(both.same_as(expected)) << variant.name << " in place, n " << n;
      }
    }
  }
}

}  // namespace
}  // namespace embert
