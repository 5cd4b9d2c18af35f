// SPDX-License-Identifier: Apache-2.0
// Factors, norms and scores as integers; smoothing; outlier channel splitting.
#include <gtest/gtest.h>

#include <cmath>

#include "converter/convert_error.hpp"
#include "converter/quantize/encode_integers.hpp"
#include "converter/quantize/layer/smoothing.hpp"
#include "converter/quantize/rounding/outlier_splitting.hpp"
#include "kernels/arithmetic/fixed_point.hpp"
#include "tests/converter/quantize/random_weights.hpp"

namespace embert::convert {
namespace {

using test::Random;

TEST(EncodeFactors, NormalisedWithOneShift) {
  for (int e = -31; e < 15; ++e) {
    const std::vector<double> factors = {std::ldexp(0.75, e), std::ldexp(0.6, e), 0.0,
                                         std::ldexp(1.0, e - 9)};
    const EncodedFactors encoded = encode_factors(factors, "t");
    const BlobShifts s = encoded.shifts;
    EXPECT_TRUE(s.left == 0 || s.right == 0);
    EXPECT_LE(s.left, 15);
    EXPECT_LE(s.right, 31);
    EXPECT_GE(encoded.multipliers[0], 1 << 30);
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const double value = std::ldexp(encoded.multipliers[i], s.left - s.right - 31);
      EXPECT_NEAR(value, factors[i], std::ldexp(1.0, e - 29)) << e << " " << i;
    }
  }
}

TEST(EncodeFactors, RoundingUpToTwoPow31TakesTheNextShift) {
  const std::vector<double> factors = {1.0 - 0x1p-40};
  const EncodedFactors encoded = encode_factors(factors, "t");
  EXPECT_EQ(encoded.multipliers[0], 1 << 30);
  EXPECT_EQ(encoded.shifts.left, 1);
}

TEST(EncodeFactors, ZerosTinyAndTooLarge) {
  EXPECT_EQ(encode_factors(std::vector<double>{0, 0}, "t").multipliers, (std::vector<int>{0, 0}));
  EXPECT_EQ(encode_factors(std::vector<double>{1e-30}, "t").shifts.right, 31);
  EXPECT_EQ(encode_factors(std::vector<double>{32767.9}, "t").shifts.left, 15);
  for (const double bad : {32768.0, -1.0, std::nan("")}) {
    try {
      encode_factors(std::vector<double>{bad}, "encoder.layer.3.x");
      FAIL() << bad;
    } catch (const ConvertError& error) {
      EXPECT_NE(std::string(error.what()).find("encoder.layer.3.x"), std::string::npos);
    }
  }
}

TEST(EncodeScore, CapIsWhereTheExponentialEnds) {
  for (double scale = 1e-12; scale < 1e6; scale *= 1.37) {
    const EncodedScore s = encode_score(scale);
    ASSERT_GE(s.multiplier, 1u);
    ASSERT_LE(static_cast<std::uint32_t>(s.cap), kMaxScoreCap);
    ASSERT_LE(s.multiplier, 1u << 31);
    ASSERT_LT(std::uint64_t{s.multiplier} * static_cast<std::uint64_t>(s.cap) + (1u << 21),
              std::uint64_t{1} << 32);
    const auto cap = static_cast<std::uint32_t>(s.cap);
    EXPECT_EQ(exp2_u8(exp2_index(cap, s.multiplier)), 0) << scale;
    if (scale > 1e-5 && scale < 0.01) {  // enough digits in multiplier and cap
      EXPECT_NEAR(exp2_u8(exp2_index(cap / 8, s.multiplier)), 255 * std::exp(-scale * (cap / 8)),
                  2.0);
    }
  }
}

TEST(EncodeNorm, GivesTheFloatLayerNorm) {
  Random random(3);
  const std::size_t n = 48;
  LayerNorm norm;
  ChannelQuant output{.offset = {}, .factor = {}, .scale = 1e-3};
  std::vector<std::int32_t> row;
  for (std::size_t c = 0; c < n; ++c) {
    norm.gamma.push_back(random.next());
    norm.beta.push_back(random.next());
    output.offset.push_back(static_cast<double>(random.next()));
    output.factor.push_back(std::exp(static_cast<double>(random.next())));
    row.push_back(static_cast<std::int32_t>(8000 * random.next()));
  }
  const double input_scale = 2e-4, epsilon = 1e-3;
  const QuantizedNorm q = encode_norm({.norm = norm,
                                       .output = output,
                                       .input_scale = input_scale,
                                       .epsilon = epsilon,
                                       .name = "t"});
  double mean = 0, variance = 0;
  std::int64_t s1 = 0, s2 = 0;
  for (const std::int32_t v : row) {
    mean += v * input_scale / static_cast<double>(n);
    s1 += v;
    s2 += std::int64_t{v} * v;
  }
  for (const std::int32_t v : row) {
    variance += (v * input_scale - mean) * (v * input_scale - mean) / static_cast<double>(n);
  }
  const LayerNormRow layernorm =
      layernorm_row(s1, s2, q.record.epsilon_n2, static_cast<std::int32_t>(n));
  for (std::size_t c = 0; c < n; ++c) {
    const double expected = (row[c] * input_scale - mean) / std::sqrt(variance + epsilon) *
                                static_cast<double>(norm.gamma[c]) +
                            static_cast<double>(norm.beta[c]);
    const std::int32_t t =
        layernorm_value(row[c], static_cast<std::int32_t>(n), layernorm,
                        {.gain = q.gain[c], .bias = q.bias[c], .shift = q.record.shift});
    const double scale = output.factor[c] * output.scale;
    EXPECT_NEAR(scale * t + output.offset[c], expected, scale * 0.51) << c;
  }
}

// Smoothing and shifting are exact: W x + b = (W f)((x - o) / f) + (b + W o).
TEST(Smoothing, ReachesTheRangeAndMeetsTheFirstToken) {
  Random random(5);
  const std::size_t n = 40;
  ChannelRange range;
  LayerNorm norm;
  for (std::size_t c = 0; c < n; ++c) {
    const float middle = 3 * random.next(), half = std::exp(3 * random.next());
    range.lowest.push_back(middle - half);
    range.highest.push_back(middle + half);
    range.first_mean.push_back(static_cast<double>(middle + half * random.next()));
    norm.gamma.push_back(1);
    norm.beta.push_back(middle);
  }
  const Matrix weights = test::random_matrix(random, 24, n, 0.5F);
  const Matrix* readers[] = {&weights};
  const LayerNorm* norms[] = {&norm};
  const ChannelQuant d = channel_quant(range, norms, readers, 0.92);
  double logs = 0;
  for (std::size_t c = 0; c < n; ++c) {
    const auto code = [&](double x) { return (x - d.offset[c]) / (d.factor[c] * d.scale); };
    EXPECT_GE(code(static_cast<double>(range.lowest[c])), -127.51);
    EXPECT_LE(code(static_cast<double>(range.highest[c])), 127.51);
    EXPECT_NEAR(code(range.first_mean[c]), std::round(code(range.first_mean[c])), 1e-6);
    logs += std::log(d.factor[c]);
  }
  EXPECT_NEAR(logs, 0, 1e-9);
  for (std::size_t r = 0; r < weights.rows; ++r) {
    double plain = 0, smoothed = 0;
    for (std::size_t c = 0; c < n; ++c) {
      const double x = static_cast<double>(random.next()),
                   w = static_cast<double>(weights.row(r)[c]);
      plain += w * x;
      smoothed += w * d.factor[c] * ((x - d.offset[c]) / d.factor[c]) + w * d.offset[c];
    }
    EXPECT_NEAR(plain, smoothed, 1e-9);
  }
}

TEST(OutlierSplitting, SplitExactlyIntoBytes) {
  Random random(11);
  Matrix weights = test::random_matrix(random, 20, 30, 0.1F);
  weights.data[3 * 30 + 7] = 0.55F;   // takes about 5 columns
  weights.data[4 * 30 + 7] = -0.31F;  // the same input, fewer columns
  weights.data[9 * 30 + 2] = -0.24F;
  const OutlierPlan plan = plan_outlier_splitting(weights, {.most = 10, .least_ratio = 1.5});
  EXPECT_GE(plan.limit[7], 5 * 127);
  EXPECT_GE(plan.limit[2], 2 * 127);
  EXPECT_LT(plan.scale[3], 0.11 / 127);
  const RoundingProblem problem{
      .name = "t", .weights = weights, .scale = plan.scale, .limit = plan.limit};
  const RoundedWeights rounded = round_weights(problem, {}, Rounding::kNearest);
  const SplitWeights split = split_outliers(rounded);
  const std::size_t columns = split.source.size();
  EXPECT_GT(columns, 34u);
  for (std::size_t n = 0; n < 20; ++n) {
    std::vector<int> sums(30);
    for (std::size_t c = 0; c < columns; ++c) {
      const int code = split.codes[n * columns + c];
      EXPECT_LE(std::abs(code), 127);
      sums[split.source[c]] += code;
    }
    for (std::size_t c = 0; c < 30; ++c) {
      EXPECT_EQ(sums[c], rounded.row(n)[c]);
      EXPECT_NEAR(sums[c] * plan.scale[n], static_cast<double>(weights.row(n)[c]),
                  plan.scale[n] * 0.51);
    }
  }
}

TEST(OutlierSplitting, KeepsToTheRoomThereIs) {
  Random random(12);
  Matrix weights = test::random_matrix(random, 64, 64, 0.01F);
  for (std::size_t n = 0; n < 64; ++n) weights.data[n * 64 + n] = 1;  // every input has an outlier
  for (const std::size_t room : {0u, 3u, 40u, 10000u}) {
    const OutlierPlan plan = plan_outlier_splitting(weights, {.most = room});
    std::size_t copies = 0;
    for (const int limit : plan.limit) copies += static_cast<std::size_t>(limit / 127 - 1);
    EXPECT_LE(copies, room);
    for (std::size_t n = 0; n < 64; ++n) EXPECT_LE(1 / plan.scale[n], plan.limit[n] + 0.5);
  }
  const Matrix zeros{8, 8, std::vector<float>(64, 0.0F)};
  for (const double scale : plan_outlier_splitting(zeros, {.most = 8}).scale) EXPECT_EQ(scale, 1.0);
}

}  // namespace
}  // namespace embert::convert
