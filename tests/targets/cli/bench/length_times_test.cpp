// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/bench/length_times.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace embert::cli {
namespace {

constexpr size_t kLengths = 512;
constexpr uint32_t kRepeats = 10;

std::vector<double> equal_macs() {
  std::vector<double> macs;
  for (size_t tokens = 1; tokens <= kLengths; ++tokens)
    macs.push_back(1e6 * static_cast<double>(tokens));
  return macs;
}

TEST(LengthTimes, OneLengthHasNoStep) {
  const LengthTimes times = time_lengths(std::vector<double>{5}, 3, [](size_t) { return 2.0; });
  EXPECT_EQ(times.ms, std::vector<double>{2});
  EXPECT_EQ(times.step.tokens, 0u);
}

TEST(LengthTimes, StepsAreBeyondTheMultiplyAdds) {
  const std::vector<double> macs = {1e6, 3e6, 4e6};
  const std::vector<double> ms = {1, 3, 5};
  const LengthTimes times = time_lengths(macs, 1, [&](size_t tokens) { return ms[tokens - 1]; });
  EXPECT_EQ(times.ms, ms);
  EXPECT_EQ(times.step.tokens, 3u);
  EXPECT_NEAR(times.step.percent, 25, 1e-9);
}

// On a machine that others use a third of all passes takes up to 40 % longer.
TEST(LengthTimes, NoiseHidesNoStepAndMakesNone) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> share(0, 1);
  const auto noisy = [&](size_t tokens, size_t step_at) {
    const double ms = 0.1 * static_cast<double>(tokens) * (tokens >= step_at ? 1.04 : 1);
    return share(random) < 0.33 ? ms * (1 + 0.4 * share(random)) : ms;
  };
  const std::vector<double> macs = equal_macs();
  const LengthTimes stepped =
      time_lengths(macs, kRepeats, [&](size_t tokens) { return noisy(tokens, 325); });
  EXPECT_EQ(stepped.step.tokens, 325u);
  EXPECT_NEAR(stepped.step.percent, 4, 1.5);
  const LengthTimes even =
      time_lengths(macs, kRepeats, [&](size_t tokens) { return noisy(tokens, kLengths + 1); });
  EXPECT_LT(even.step.percent, 3);
}

}  // namespace
}  // namespace embert::cli
