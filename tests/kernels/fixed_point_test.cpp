// SPDX-License-Identifier: Apache-2.0
// The reference arithmetic against exact arithmetic in 128-bit integers and long double, for all
// inputs where they are few. Built with the undefined-behaviour sanitizer: the scalar kernels call
// these functions, so no input inside the contracts may overflow.
#include "kernels/arithmetic/fixed_point.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/random.hpp"

namespace embert {
namespace {

__extension__ typedef __int128 Wide;

// floor(x / 2^k + 1/2), by division.
Wide wide_shift_round(Wide x, int32_t k) {
  const Wide divisor = Wide{1} << k, doubled = 2 * x + divisor;
  Wide quotient = doubled / (2 * divisor);
  if (quotient * 2 * divisor > doubled) --quotient;
  return quotient;
}
Wide wide_clamp(Wide x, Wide lowest, Wide highest) {
  return x < lowest ? lowest : x > highest ? highest : x;
}

class FixedPoint : public SeededTest {
 protected:
  Random random_{100};

  // Any magnitude is equally likely; every tenth value is an end of the range.
  int64_t draw(int64_t lowest, int64_t highest) {
    const size_t kind = random_.below(20);
    if (kind == 0) return lowest;
    if (kind == 1) return highest;
    const int64_t x = random_.uniform(INT64_MIN, INT64_MAX) >> random_.below(63);
    return x < lowest || x > highest ? random_.uniform(lowest, highest) : x;
  }
  int32_t draw32(int64_t lowest, int64_t highest) {
    return static_cast<int32_t>(draw(lowest, highest));
  }
};

TEST_F(FixedPoint, ShiftRound) {
  for (int32_t k = 0; k <= 62; ++k) {
    for (int turn = 0; turn < 2000; ++turn) {
      const int64_t x = draw(-(int64_t{1} << 61), int64_t{1} << 61);
      ASSERT_EQ(Wide{shift_round(x, k)}, wide_shift_round(x, k)) << x << ' ' << k;
    }
  }
}

TEST_F(FixedPoint, MultiplyQ31) {
  EXPECT_EQ(multiply_q31(INT32_MIN, INT32_MAX), -INT32_MAX);
  EXPECT_EQ(multiply_q31(INT32_MIN, -INT32_MAX), INT32_MAX);
  for (int turn = 0; turn < 1000000; ++turn) {
    const int32_t a = draw32(INT32_MIN, INT32_MAX), m = draw32(-INT32_MAX, INT32_MAX);
    ASSERT_EQ(Wide{multiply_q31(a, m)}, wide_shift_round(Wide{a} * m, 31)) << a << ' ' << m;
  }
}

TEST_F(FixedPoint, Requantize) {
  for (int turn = 0; turn < 1000000; ++turn) {
    const int32_t x = draw32(INT32_MIN, INT32_MAX), m = draw32(-INT32_MAX, INT32_MAX);
    const int32_t left = turn % 2 == 0 ? draw32(0, 15) : 0, right = left == 0 ? draw32(0, 31) : 0;
    const Wide shifted = wide_clamp(x * (Wide{1} << left), INT32_MIN, INT32_MAX);
    const Wide expected = wide_shift_round(wide_shift_round(shifted * m, 31), right);
    ASSERT_EQ(Wide{requantize(x, m, left, right)}, expected) << x << ' ' << m << ' ' << left;
  }
}

TEST_F(FixedPoint, FloorLog2) {
  for (int32_t bit = 0; bit < 64; ++bit) {
    const uint64_t power = uint64_t{1} << bit;
    EXPECT_EQ(floor_log2(power), bit);
    EXPECT_EQ(floor_log2(power | (power - 1)), bit);
  }
}

void expect_rsqrt(uint64_t d) {
  const Rsqrt r = rsqrt(d);
  const long double value = std::ldexp(static_cast<long double>(r.y_q30), r.h / 2 - 60);
  const long double error = value * std::sqrt(static_cast<long double>(d)) - 1;
  ASSERT_LT(std::fabs(error), std::ldexp(1.0L, -24)) << d;
  ASSERT_GE(r.y_q30, 1 << 29) << d;
  ASSERT_LE(r.y_q30, 1 << 30) << d;
  ASSERT_EQ(r.h % 2, 0) << d;
}

TEST_F(FixedPoint, ReciprocalSquareRoot) {
  const uint64_t end = uint64_t{1} << 62;
  for (uint64_t d = 1; d < 200000; ++d) expect_rsqrt(d);
  // The ends and the middle of every interval of the seed table at every exponent.
  for (int32_t bit = 7; bit < 62; ++bit) {
    for (uint64_t top = 64; top < 128; ++top) {
      const uint64_t first = bit >= 6 ? top << (bit - 6) : top;
      const uint64_t width = uint64_t{1} << (bit - 6);
      for (const uint64_t d : {first - 1, first, first + 1, first + width / 2}) {
        if (d < end) expect_rsqrt(d);
      }
    }
  }
  expect_rsqrt(end - 1);
  for (int turn = 0; turn < 1000000; ++turn) {
    expect_rsqrt(static_cast<uint64_t>(draw(1, static_cast<int64_t>(end) - 1) | 1));
  }
}

TEST_F(FixedPoint, SoftmaxExponential) {
  EXPECT_EQ(exp2_u8(0), 255);
  for (uint32_t i = 0; i < 5000; ++i) {
    const double exact = 255 * std::exp2(-static_cast<double>(i) / 64);
    // Half a unit, and half a unit of the table's seven fraction bits; from i = 576 on exp2_u8 is
    // 0.
    EXPECT_NEAR(exp2_u8(i), exact, i < 576 ? 0.5 + 0.5 / 128 : 0.5) << i;
    EXPECT_LE(exp2_u8(i + 1), exp2_u8(i)) << i;
  }
  EXPECT_EQ(exp2_u8(UINT32_MAX), 0);
  EXPECT_EQ(exp2_u14(0), 16320);
  for (uint32_t i = 0; i < 1024; ++i) {
    const double exact = 16320 * std::exp2(-static_cast<double>(i) / 64);
    EXPECT_NEAR(exp2_u14(i), exact, 0.75) << i;  // half a unit, and half of one of the table
    EXPECT_EQ(exp2_u14(i) == 0, i >= kExp14End) << i;
  }
}

// The cap leads to an exponential of 0, and a masked score is no nearer.
TEST_F(FixedPoint, CapOf14Bits) {
  for (int turn = 0; turn < 1000000; ++turn) {
    const uint32_t multiplier = static_cast<uint32_t>(draw(4, int64_t{1} << 28));
    const int64_t cap = score_cap_u14(multiplier);
    ASSERT_LE(cap, (int64_t{1} << 30) - kScoreBound);
    ASSERT_LT(cap * multiplier + (1 << 21), int64_t{1} << 32) << multiplier;
    ASSERT_GE(exp2_index(static_cast<uint32_t>(cap), multiplier), kExp14End) << multiplier;
  }
}

TEST_F(FixedPoint, SoftmaxIndex) {
  for (int turn = 0; turn < 1000000; ++turn) {
    const uint32_t multiplier = static_cast<uint32_t>(draw(1, int64_t{1} << 31));
    const uint32_t cap = static_cast<uint32_t>(((uint64_t{1} << 32) - (1u << 21) - 1) / multiplier);
    const uint32_t distance = static_cast<uint32_t>(draw(0, cap));
    const Wide exact = wide_shift_round(Wide{distance} * multiplier, 22);
    ASSERT_EQ(Wide{exp2_index(distance, multiplier)}, exact) << distance << ' ' << multiplier;
  }
}

TEST_F(FixedPoint, ReciprocalOfEverySum) {
  for (uint32_t sum = 1; sum < 1u << 24; ++sum) {
    const Reciprocal r = reciprocal(sum);
    // The largest value that is not above the quotient, or 2^31 - 1 for 2^31.
    const uint64_t numerator = uint64_t{1} << (31 + r.z);
    const uint64_t product = static_cast<uint64_t>(r.value) * sum;
    const bool power_of_two = (sum & (sum - 1)) == 0;
    const bool good = r.value >= 1 << 30 && sum >> r.z == 1 && product <= numerator &&
                      numerator - product < sum + (power_of_two ? 1u : 0u);
    ASSERT_TRUE(good) << sum << " gives " << r.value << ' ' << r.z;
  }
}

TEST_F(FixedPoint, JoinPlanes) {
  for (int turn = 0; turn < 1000000; ++turn) {
    const int64_t sum = draw(1, (1 << 24) - 1);
    const int32_t high = draw32(-127 * sum, 127 * sum), low = draw32(-127 * sum, 127 * sum);
    const double exact = (256.0 * high + low) * 32768 / static_cast<double>(sum);
    ASSERT_NEAR(join_planes(high, low, reciprocal(static_cast<uint32_t>(sum))), exact, 2.5)
        << high << ' ' << low << ' ' << sum;
  }
}

// An attention head's factor scales its probabilities and their products with the values; a factor
// of 1 changes no bit.
TEST_F(FixedPoint, HeadFactor) {
  for (int turn = 0; turn < 1000000; ++turn) {
    const int64_t sum = draw(1, (1 << 24) - 1);
    const Reciprocal r = reciprocal(static_cast<uint32_t>(sum));
    const int32_t factor = draw32(0, 32768);
    const Reciprocal scaled = scale_reciprocal(r, factor), same = scale_reciprocal(r, 32768);
    ASSERT_EQ(same.value, r.value);
    ASSERT_EQ(same.z, r.z);
    ASSERT_EQ(Wide{scaled.value}, wide_shift_round(Wide{r.value} * factor, 15));
    ASSERT_EQ(scaled.z, r.z);
    const int32_t high = draw32(-127 * sum, 127 * sum), low = draw32(-127 * sum, 127 * sum);
    const double exact = (256.0 * high + low) * factor / static_cast<double>(sum);
    ASSERT_NEAR(join_planes(high, low, scaled), exact, 3) << high << ' ' << low << ' ' << sum;
    const int32_t e = draw32(0, sum < 255 ? sum : 255), probability = probability_q15(e, scaled);
    ASSERT_EQ(Wide{probability}, wide_shift_round(Wide{e} * scaled.value, 16 + r.z));
    ASSERT_NEAR(probability, static_cast<double>(e) * factor / static_cast<double>(sum), 0.51);
    ASSERT_LE(probability, 32768);
  }
  EXPECT_EQ(probability_q15(255, reciprocal(255)), 32768);
}

TEST_F(FixedPoint, RelativeScore) {
  for (int turn = 0; turn < 1000000; ++turn) {
    const int32_t score = draw32(-(1 << 22) + 1, (1 << 22) - 1);
    const int32_t product = draw32(INT32_MIN, INT32_MAX), m = draw32(-INT32_MAX, INT32_MAX);
    const int32_t left = turn % 2 == 0 ? draw32(0, 15) : 0, right = left == 0 ? draw32(0, 31) : 0;
    const Wide sum = Wide{score} + requantize(product, m, left, right);
    ASSERT_EQ(Wide{relative_score(score, product, m, left, right)},
              wide_clamp(sum, -(1 << 22) + 1, (1 << 22) - 1));
  }
}

TEST_F(FixedPoint, HiddenAndEmbeddingValues) {
  for (int turn = 0; turn < 1000000; ++turn) {
    const int32_t t = draw32(-32768, 32767), multiplier = draw32(INT32_MIN, INT32_MAX);
    const int32_t offset = draw32(INT32_MIN, INT32_MAX), scale = draw32(0, INT32_MAX);
    const int32_t position = draw32(-32768, 32767), segment = draw32(-32768, 32767);
    ASSERT_EQ(Wide{hidden_value(t, multiplier, offset)},
              wide_clamp(wide_shift_round(Wide{t} * multiplier + offset, 16), -32768, 32767));
    ASSERT_EQ(
        Wide{embedding_value(t, scale, position, segment)},
        wide_clamp(wide_shift_round(Wide{t} * scale, 16) + position + segment, -32768, 32767));
  }
}

TEST_F(FixedPoint, PlanesOfEveryValue) {
  for (int32_t v = -32512; v <= 32512; ++v) {
    const int32_t high = plane_high(v), low = plane_low(v);
    ASSERT_LE(std::abs(high), 127) << v;
    ASSERT_LE(std::abs(low), 127) << v;
    // Only low = -128 is not represented.
    const bool missing = ((v % 256) + 256) % 256 == 128;
    ASSERT_EQ(256 * high + low, missing ? v + 1 : v);
  }
}

TEST_F(FixedPoint, RowQuantisationOfEveryMaximum) {
  for (const int32_t top : {127, 255}) {
    for (int32_t row_max = 1; row_max <= 32767; ++row_max) {
      const RowScale scale = row_scale(row_max, top);
      ASSERT_EQ(quantize_row_value(row_max, scale), top) << row_max;
      ASSERT_EQ(quantize_row_value(-row_max, scale), -top) << row_max;
      ASSERT_EQ(quantize_row_value(0, scale), 0) << row_max;
      const int32_t step = row_max % 512 == 1 ? 1 : 1 + row_max / 16;
      for (int32_t x = -row_max; x <= row_max; x += step) {
        const int32_t q = quantize_row_value(x, scale);
        const double exact = static_cast<double>(x) * top / row_max;
        ASSERT_LE(std::fabs(q - exact), 0.5 + 0.008) << x << ' ' << row_max;
        // The form in 16-bit lanes that SIMD kernels use.
        ASSERT_EQ(q, (((x * (1 << scale.z) * int64_t{scale.r}) >> 16) + 32) >> 6) << x;
      }
    }
  }
}

double gelu(double x) { return x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }
double gelu_new(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}
double silu(double x) { return x / (1 + std::exp(-x)); }
double relu(double x) { return x > 0 ? x : 0; }
double tanh_of(double x) { return std::tanh(x); }

// Every input at every exponent: within 2^-11 of the function by interpolation, then half a unit of
// the output's scale.
TEST_F(FixedPoint, ActivationsOfEveryInput) {
  const struct {
    const char* name;
    double (*function)(double);
    Activation activation;
  } kinds[] = {{"gelu", gelu, {kGeluNodes, 64, 2786, 0, 0}},
               {"gelu_new", gelu_new, {kGeluNewNodes, 64, 2788, 0, 0}},
               {"silu", silu, {kSiluNodes, 256, 4562, 0, 0}},
               {"relu", relu, {nullptr, 0, 0, 0, 0}},
               {"tanh", tanh_of, {kTanhNodes, 128, 16384, 1, 0}}};
  for (const auto& kind : kinds) {
    for (int32_t exponent = 5; exponent <= 12; ++exponent) {
      Activation activation = kind.activation;
      activation.exponent = exponent;
      double worst = 0;
      for (int32_t g = -32767; g <= 32767; ++g) {
        const int32_t u = activate(g, activation);
        ASSERT_TRUE(u >= 0 && u <= 32767) << kind.name << ' ' << g;
        const double exact =
            kind.function(std::ldexp(g, -exponent)) + activation.offset_q14 / 16384.0;
        const double wanted = std::min(exact, std::ldexp(32767, -exponent));
        worst = std::max(worst, std::fabs(std::ldexp(u, -exponent) - wanted));
      }
      EXPECT_LE(worst, std::ldexp(1, -11) + std::ldexp(1, -exponent - 1))
          << kind.name << " in units of 2^-" << exponent;
    }
  }
}

// The whole range of a hostile table: no 32-bit step overflows, and results stay below 2^16.
TEST_F(FixedPoint, Rotate) {
  for (int turn = 0; turn < 1000000; ++turn) {
    const int32_t a = draw32(-32767, 32767), b = draw32(-32767, 32767);
    const int32_t cosine = draw32(-16384, 16384), sine = draw32(-16384, 16384);
    const Rotated turned = rotate(a, b, cosine, sine);
    ASSERT_EQ(Wide{turned.a}, wide_shift_round(Wide{a} * cosine - Wide{b} * sine, 14));
    ASSERT_EQ(Wide{turned.b}, wide_shift_round(Wide{b} * cosine + Wide{a} * sine, 14));
    ASSERT_TRUE(std::abs(turned.a) < 65536 && std::abs(turned.b) < 65536);
  }
}

TEST_F(FixedPoint, GatedValue) {
  for (int turn = 0; turn < 1000000; ++turn) {
    const int32_t activated = draw32(0, 32767), offset = draw32(0, 32767);
    const int32_t factor = draw32(-32767, 32767), shift = draw32(0, 15);
    const Wide product = wide_shift_round(Wide{activated - offset} * factor, shift);
    ASSERT_EQ(Wide{gated_value(activated, offset, factor, shift)},
              wide_clamp(product, -32767, 32767));
  }
}

// What a gated feed-forward network subtracts from an activation is what activate() gives for 0,
// where the function itself is 0, but for the tables' error there.
TEST_F(FixedPoint, ActivationOffset) {
  const Activation kinds[] = {{kGeluNodes, 64, 2786, 0, 0},
                              {kGeluNewNodes, 64, 2788, 0, 0},
                              {kSiluNodes, 256, 4562, 0, 0},
                              {nullptr, 0, 0, 0, 0},
                              {kTanhNodes, 128, 0, 1, 0}};
  for (Activation activation : kinds) {
    for (activation.exponent = 5; activation.exponent <= 12; ++activation.exponent) {
      ASSERT_NEAR(activation_offset(activation), activate(0, activation), 1);
    }
  }
}

TEST_F(FixedPoint, ResidualSum) {
  for (int turn = 0; turn < 1000000; ++turn) {
    const int32_t x = draw32(INT32_MIN, INT32_MAX), row_max = draw32(1, 32767);
    const int32_t residual = draw32(-32768, 32767);
    const int32_t multiplier = draw32(-(1 << 29) + 1, (1 << 29) - 1);
    const int32_t constant = draw32(-(1 << 28) + (1 << 19), (1 << 28) - (1 << 19));
    const Wide product =
        wide_clamp(wide_shift_round(Wide{x} * row_max, 15), -kResidualBound, kResidualBound);
    const Wide carried = wide_shift_round(Wide{residual} * multiplier, 16);
    // One 32-bit lane holds the sum.
    ASSERT_LT(product + carried + constant, Wide{1} << 31);
    ASSERT_GE(product + carried + constant, -(Wide{1} << 31));
    const Wide expected =
        wide_clamp(wide_shift_round(product + carried + constant, 4), -32768, 32767);
    ASSERT_EQ(Wide{residual_sum(x, row_max, residual, multiplier, constant)}, expected);
    // A sum of 33 bits without the clamp gives the same.
    const Wide sum = wide_shift_round(Wide{x} * row_max, 15) + carried + constant;
    ASSERT_EQ(wide_clamp(wide_shift_round(sum, 4), -32768, 32767), expected);
  }
}

// A sum that goes in with this multiplier comes out as it was: ffn_down adds its second group of
// columns to the sum of the first.
TEST_F(FixedPoint, ResidualSumCarriesASumExactly) {
  for (std::int32_t sum = INT16_MIN; sum <= INT16_MAX; ++sum) {
    ASSERT_EQ(residual_sum(0, 32767, sum, 1 << 20, 0), sum);
    // What is added is rounded alone, whatever the sum.
    ASSERT_EQ(residual_sum(1 << 19, 1 << 14, sum, 1 << 20, 24),
              sat16(sum + residual_sum(1 << 19, 1 << 14, 0, 1 << 20, 24)));
  }
}

}  // namespace
}  // namespace embert
