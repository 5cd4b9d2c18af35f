// SPDX-License-Identifier: Apache-2.0
// LayerNorm's formulas against long double, for row lengths from 1 to 4096. Built with the
// undefined-behaviour sanitizer, which shows that nothing overflows.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/arithmetic/fixed_point.hpp"
#include "tests/support/random.hpp"

namespace embert {
namespace {

// The largest difference of a result from the exact one: half a unit for the last rounding, one
// unit of the normalised value (Q21) for its rounding, the error of the reciprocal square root, and
// the roundings of the two products.
double allowed_error(double exact, const LayerNormAffine& affine) {
  return 0.5 + std::fabs(affine.gain) * std::ldexp(1.0, -affine.shift - 21) +
         std::fabs(exact) * std::ldexp(1.0, -23) + 1.0 / 128;
}

void expect_row(const std::vector<int16_t>& row, int64_t epsilon_n2, const LayerNormAffine& affine,
                const char* kind) {
  const int32_t n = static_cast<int32_t>(row.size());
  int64_t s1 = 0, s2 = 0;
  for (const int16_t v : row) {
    s1 += v;
    s2 += int32_t{v} * v;
  }
  const LayerNormRow r = layernorm_row(s1, s2, epsilon_n2, n);
  ASSERT_TRUE(r.shift >= 2 && r.shift <= 8) << kind << " n=" << n;
  const long double d = static_cast<long double>(n * s2 - s1 * s1) + epsilon_n2;
  for (size_t c = 0; c < row.size(); ++c) {
    const int32_t t = layernorm_value(row[c], n, r, affine);
    const long double normal = (static_cast<long double>(n) * row[c] - s1) / std::sqrt(d);
    const long double exact =
        normal * std::ldexp(static_cast<long double>(affine.gain), -affine.shift) +
        std::ldexp(static_cast<long double>(affine.bias), 7 - affine.shift);
    const double wanted = std::fmin(std::fmax(static_cast<double>(exact), -32768.0), 32767.0);
    ASSERT_LE(std::fabs(t - wanted), allowed_error(static_cast<double>(exact), affine))
        << kind << " n=" << n << " c=" << c << " v=" << row[c] << " epsilon=" << epsilon_n2;
  }
}

class LayerNormArithmetic : public SeededTest {
 protected:
  Random random_{200};

  LayerNormAffine draw_affine() {
    const int32_t shift = static_cast<int32_t>(random_.uniform(8, 38));
    return {static_cast<int32_t>(random_.uniform(-INT32_MAX, INT32_MAX)),
            static_cast<int32_t>(random_.uniform(-(1 << 29) + 1, (1 << 29) - 1)), shift};
  }
  int64_t draw_epsilon() { return int64_t{1} << random_.below(55); }
};

TEST_F(LayerNormArithmetic, EveryRowLength) {
  for (size_t n = 1; n <= 4096; n += n < 300 ? 1 : 5) {
    std::vector<int16_t> row(n, 0);
    const size_t hot = random_.below(n);
    for (const int16_t value : {int16_t{1}, int16_t{-32768}, int16_t{32767}}) {
      row.assign(n, 0);
      row[hot] = value;
      expect_row(row, 1, draw_affine(), "one-hot");
      expect_row(row, draw_epsilon(), draw_affine(), "one-hot");
      row.assign(n, value);
      expect_row(row, 1, draw_affine(), "constant");
      row[hot] = static_cast<int16_t>(value == 1 ? 0 : -1 - value);
      expect_row(row, 1, draw_affine(), "constant but one");
    }
    random_.fill(row.data(), n, -32768, 32767, Random::kAlternating);
    expect_row(row, 1, draw_affine(), "alternating extremes");
    expect_row(row, int64_t{1} << 54, draw_affine(), "alternating extremes");
    const int64_t bound = int64_t{1} << random_.below(16);
    random_.fill(row.data(), n, -bound, bound - 1, Random::kUniform);
    expect_row(row, draw_epsilon(), draw_affine(), "random");
  }
}

// All of the largest lengths, where sums are largest.
TEST_F(LayerNormArithmetic, LongRowsOfExtremes) {
  for (size_t n = 4080; n <= 4096; ++n) {
    for (const size_t high : {size_t{1}, n / 2, n - 1}) {
      std::vector<int16_t> row(n, -32768);
      for (size_t c = 0; c < high; ++c) row[c] = 32767;
      expect_row(row, 1, draw_affine(), "two-valued");
      expect_row(row, int64_t{1} << 54, draw_affine(), "two-valued");
    }
  }
}

// With gains and biases like those of a model.
TEST_F(LayerNormArithmetic, ModelLikeRowsAreNearlyCorrectlyRounded) {
  for (const size_t n : {size_t{128}, size_t{384}, size_t{768}, size_t{1024}}) {
    std::vector<int16_t> row(n);
    for (int turn = 0; turn < 100; ++turn) {
      random_.fill(row.data(), n, -3000, 3000, Random::kUniform);
      const LayerNormAffine affine = {static_cast<int32_t>(random_.uniform(1 << 28, 1 << 30)),
                                      1 << 20, 17};
      expect_row(row, 1000, affine, "model-like");
    }
  }
}

}  // namespace
}  // namespace embert
