// SPDX-License-Identifier: Apache-2.0
// The bounds that elementary.hpp states, against the C library's long double.
#include "converter/arithmetic/elementary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace embert::convert {
namespace {

constexpr double kUnit = 0x1p-52;

// The largest error of f against `exact` for `count` values between low and high, relative to
// `exact` or absolute.
struct Errors {
  double relative = 0, absolute = 0;
};
template <typename F, typename Exact>
Errors errors_between(double low, double high, F f, Exact exact) {
  constexpr int kCount = 200'001;
  Errors most;
  for (int i = 0; i < kCount; ++i) {
    const double x = low + (high - low) * i / (kCount - 1);
    const long double right = exact(static_cast<long double>(x));
    const double error = static_cast<double>(std::fabs(static_cast<long double>(f(x)) - right));
    most.absolute = std::max(most.absolute, error);
    if (right != 0) {
      most.relative = std::max(most.relative, error / static_cast<double>(std::fabs(right)));
    }
  }
  return most;
}

TEST(Elementary, ExpIsWithinTwoUnits) {
  const auto exact = [](long double x) { return std::exp(x); };
  EXPECT_LT(errors_between(-708, 708, ieee::exp, exact).relative, 2 * kUnit);
  EXPECT_LT(errors_between(-1, 1, ieee::exp, exact).relative, 2 * kUnit);
  EXPECT_EQ(ieee::exp(0), 1);
  EXPECT_EQ(ieee::exp(-1e30), ieee::exp(-708));
  EXPECT_EQ(ieee::exp(std::numeric_limits<double>::infinity()), ieee::exp(708));
  EXPECT_TRUE(std::isnan(ieee::exp(std::numeric_limits<double>::quiet_NaN())));
}

TEST(Elementary, LogIsWithinTwoUnits) {
  const auto exact = [](long double x) { return std::log(x); };
  EXPECT_LT(errors_between(1e-3, 4, ieee::log, exact).relative, 2 * kUnit);
  EXPECT_LT(errors_between(1, 1e9, ieee::log, exact).relative, 2 * kUnit);
  EXPECT_LT(errors_between(1e-300, 1e-290, ieee::log, exact).relative, 2 * kUnit);
  EXPECT_EQ(ieee::log(1), 0);
}

TEST(Elementary, PowIsExpOfLog) {
  for (const double base : {10000.0, 160000.0, 1.5}) {
    const auto f = [&](double y) { return ieee::pow(base, y); };
    const auto exact = [&](long double y) { return std::pow(static_cast<long double>(base), y); };
    EXPECT_LT(errors_between(-1, 1, f, exact).relative, 20 * kUnit) << base;
  }
}

TEST(Elementary, TanhIsWithin1em11) {
  const auto exact = [](long double x) { return std::tanh(x); };
  EXPECT_LT(errors_between(-30, 30, ieee::tanh, exact).relative, 1e-11);
  EXPECT_LT(errors_between(-2e-4, 2e-4, ieee::tanh, exact).relative, 1e-11);
  EXPECT_EQ(ieee::tanh(-1e30), -1);
}

TEST(Elementary, ErfIsWithin1em14UpTo4) {
  const auto exact = [](long double x) { return std::erf(x); };
  EXPECT_LT(errors_between(-4, 4, ieee::erf, exact).relative, 1e-14);
  EXPECT_LT(errors_between(4, 20, ieee::erf, exact).absolute, 1.6e-8);
  EXPECT_EQ(static_cast<float>(ieee::erf(20)), 1.0F);
}

TEST(Elementary, SinAndCosAreWithin1em15) {
  const auto sine = [](long double x) { return std::sin(x); };
  const auto cosine = [](long double x) { return std::cos(x); };
  for (const double reach : {4.0, 9000.0, 0x1p19}) {
    EXPECT_LT(errors_between(-reach, reach, ieee::sin, sine).absolute, 1e-15) << reach;
    EXPECT_LT(errors_between(-reach, reach, ieee::cos, cosine).absolute, 1e-15) << reach;
  }
}

}  // namespace
}  // namespace embert::convert
