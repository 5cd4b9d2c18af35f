// SPDX-License-Identifier: Apache-2.0
// Exponential, logarithm and scales against long double.
#include "runtime/tasks/fixed_math.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/runtime/tasks/task_numbers.hpp"
#include "tests/support/random.hpp"

namespace embert::test {
namespace {

class FixedMath : public SeededTest {};

TEST_F(FixedMath, Exp2HasSmallRelativeError) {
  long double worst = 0;
  for (std::uint64_t octaves = 0; octaves < std::uint64_t{11} << 26; octaves += 997) {
    const long double exact = std::exp2(-static_cast<long double>(octaves) / (1 << 26));
    const long double computed = static_cast<long double>(exp2_q40(octaves)) / std::pow(2.0L, 40);
    worst = std::max(worst, std::fabs(computed / exact - 1));
  }
  EXPECT_LT(worst, 3e-9L);
}

TEST_F(FixedMath, Exp2InQ30IsRoundedRight) {
  long double worst = 0;
  for (std::uint64_t octaves = 0; octaves < std::uint64_t{35} << 26; octaves += 3331) {
    const long double exact = std::exp2(30 - static_cast<long double>(octaves) / (1 << 26));
    const long double error = std::fabs(static_cast<long double>(exp2_q30(octaves)) - exact);
    worst = std::max(worst, error - exact * 3e-9L);
  }
  EXPECT_LT(worst, 0.502L);  // rounded twice: in Q40, then in Q30
}

TEST_F(FixedMath, Exp2AtTheEnds) {
  EXPECT_EQ(exp2_q40(0), std::uint64_t{1} << 40);
  EXPECT_EQ(exp2_q30(0), 1u << 30);
  for (std::uint64_t n = 0; n <= 30; ++n) EXPECT_EQ(exp2_q30(n << 26), 1u << (30 - n));
  EXPECT_EQ(exp2_q30(std::uint64_t{31} << 26), 1u);  // a half rounds up
  EXPECT_EQ(exp2_q30((std::uint64_t{31} << 26) + (1 << 20)), 0u);
  EXPECT_EQ(exp2_q40(std::uint64_t{42} << 26), 0u);
  EXPECT_EQ(exp2_q40(kMaxOctaves), 0u);
  EXPECT_EQ(exp2_q40(UINT64_MAX), 0u);
}

TEST_F(FixedMath, TimesExp2OfLargeValues) {
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t value = random.next() >> (1 + random.below(62));
    const std::uint64_t octaves = random.next() >> (64 - 30);
    const long double exact =
        static_cast<long double>(value) * std::exp2(-static_cast<long double>(octaves) / (1 << 26));
    const long double computed = static_cast<long double>(times_exp2(value, octaves));
    EXPECT_LE(std::fabs(computed - exact), exact * 3e-9L + 2) << value << " " << octaves;
  }
}

TEST_F(FixedMath, Log2IsWithinOneUnit) {
  Random random(2);
  for (int bits = 0; bits < 64; ++bits) {
    EXPECT_EQ(log2_q26(std::uint64_t{1} << bits), static_cast<std::uint64_t>(bits) << 26);
  }
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t x = (random.next() | (std::uint64_t{1} << 63)) >> random.below(64);
    const long double exact = std::log2(static_cast<long double>(x)) * (1 << 26);
    EXPECT_LE(std::fabs(static_cast<long double>(log2_q26(x)) - exact), 0.6L) << x;
  }
}

/// Every size of scale, logits of every size: octaves against long double, saturation included.
TEST_F(FixedMath, OctavesOfAnyScaleAndDistance) {
  Random random(3);
  for (std::uint32_t exponent = 1; exponent <= 254; ++exponent) {
    for (int i = 0; i < 200; ++i) {
      const embert_scale scale = {(exponent << 23) |
                                  static_cast<std::uint32_t>(random.below(1 << 23))};
      const std::uint32_t distance =
          static_cast<std::uint32_t>(random.next() >> (32 + random.below(32)));
      LogitRatio ratio;
      ASSERT_TRUE(make_logit_ratio(scale, &ratio));
      const long double real = static_cast<long double>(embert_scale_to_float(scale)) * distance;
      const long double exact =
          std::min(real / std::log(2.0L) * (1 << 26), static_cast<long double>(kMaxOctaves));
      EXPECT_LE(std::fabs(static_cast<long double>(octaves_q26(distance, ratio)) - exact),
                0.51L + exact * 5e-10L)
          << scale.float_bits << " " << distance;
    }
  }
}

TEST_F(FixedMath, OctavesNeverFallWithTheDistance) {
  Random random(4);
  for (const float value : {1e-30f, 1e-9f, 3e-6f, 1e-3f, 1.0f, 1e30f}) {
    LogitRatio ratio;
    ASSERT_TRUE(make_logit_ratio(scale_of(value), &ratio));
    for (int i = 0; i < 1000; ++i) {
      const std::uint32_t distance =
          static_cast<std::uint32_t>(random.next() >> (33 + random.below(31)));
      EXPECT_LE(octaves_q26(distance, ratio), octaves_q26(distance + 1, ratio));
    }
    EXPECT_EQ(octaves_q26(0, ratio), 0u);
  }
}

TEST_F(FixedMath, ScalesThatAreRefused) {
  LogitRatio ratio;
  for (const float value : {0.0f, -1.0f, -0.0f, 1e-39f, INFINITY, -INFINITY, NAN}) {
    EXPECT_FALSE(make_logit_ratio(scale_of(value), &ratio)) << value;
  }
  EXPECT_TRUE(make_logit_ratio({0x00800000u}, &ratio));  // the smallest
  EXPECT_TRUE(make_logit_ratio({0x7F7FFFFFu}, &ratio));  // the largest
}

/// The bits of these functions are part of what a model's answers are: they do not change.
TEST_F(FixedMath, BitsAreFrozen) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a of 64-bit words
  const auto add = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3u; };
  std::uint64_t x = 1;
  for (int i = 0; i < 100000; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    LogitRatio ratio = {};
    const bool valid = make_logit_ratio({static_cast<std::uint32_t>(x >> 32)}, &ratio);
    add(ratio.mantissa);
    add(static_cast<std::uint64_t>(ratio.shift));
    if (valid) add(octaves_q26(static_cast<std::uint32_t>(x >> (x % 32)), ratio));
    add(times_exp2(x >> 1, x >> 34));
    add(log2_q26((x >> (x % 61)) | 1));
  }
  EXPECT_EQ(hash, 5005762314148900369u);
}

TEST_F(FixedMath, DistanceOfAllLogits) {
  EXPECT_EQ(logit_distance(INT32_MAX, INT32_MIN), UINT32_MAX);
  EXPECT_EQ(logit_distance(-5, -5), 0u);
  EXPECT_EQ(logit_distance(3, -4), 7u);
}

}  // namespace
}  // namespace embert::test
