// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "converter/quantize/rounding/gptq.hpp"
#include "tests/converter/quantize/random_weights.hpp"

namespace embert::convert {
namespace {

using test::Random;

// Rows that mix a few hidden factors, as activations do.
Matrix correlated_rows(Random& random, std::size_t rows, std::size_t cols) {
  const std::size_t factors = cols / 4;
  const Matrix mix = test::random_matrix(random, factors, cols, 1);
  Matrix out{rows, cols, {}};
  for (std::size_t r = 0; r < rows; ++r) {
    std::vector<float> row(cols);
    for (std::size_t f = 0; f < factors; ++f) {
      const float amount = random.next();
      for (std::size_t c = 0; c < cols; ++c) row[c] += amount * mix.row(f)[c];
    }
    for (std::size_t c = 0; c < cols; ++c) out.data.push_back(row[c] + 0.1F * random.next());
  }
  return out;
}

Hessian hessian_of(const Matrix& rows) {
  std::vector<double> mean(rows.cols);
  for (std::size_t r = 0; r < rows.rows; ++r) {
    for (std::size_t c = 0; c < rows.cols; ++c) mean[c] += static_cast<double>(rows.row(r)[c]);
  }
  for (double& m : mean) m /= static_cast<double>(rows.rows);
  return measure_hessian(rows.rows, mean,
                         [&](std::size_t r, float* x) { std::copy_n(rows.row(r), rows.cols, x); });
}

RoundingProblem problem_of(Matrix weights) {
  RoundingProblem problem{.name = "t", .weights = std::move(weights), .scale = {}, .limit = {}};
  for (std::size_t n = 0; n < problem.weights.rows; ++n) {
    float most = 0;
    for (std::size_t c = 0; c < problem.weights.cols; ++c) {
      most = std::max(most, std::fabs(problem.weights.row(n)[c]));
    }
    problem.scale.push_back(most > 0 ? static_cast<double>(most) / 127 : 1.0);
  }
  problem.limit.assign(problem.weights.cols, 127);
  return problem;
}

TEST(Hessian, IsTheCovarianceOfTheRows) {
  Random random(1);
  const Matrix rows = correlated_rows(random, 700, 20);
  const Hessian hessian = hessian_of(rows);
  for (std::size_t a = 0; a < 20; ++a) {
    for (std::size_t b = 0; b < 20; ++b) {
      double ab = 0, ma = 0, mb = 0;
      for (std::size_t r = 0; r < rows.rows; ++r) {
        const auto x = static_cast<double>(rows.row(r)[a]), y = static_cast<double>(rows.row(r)[b]);
        ab += x * y / 700;
        ma += x / 700;
        mb += y / 700;
      }
      EXPECT_NEAR(hessian.values[a * 20 + b], ab - ma * mb, 1e-4);
    }
  }
}

TEST(RoundWeights, NearestIsNearest) {
  Random random(2);
  const RoundingProblem problem = problem_of(test::random_matrix(random, 10, 33, 0.3F));
  const RoundedWeights rounded = round_weights(problem, {}, Rounding::kNearest);
  for (std::size_t n = 0; n < 10; ++n) {
    for (std::size_t c = 0; c < 33; ++c) {
      EXPECT_NEAR(rounded.row(n)[c] * problem.scale[n],
                  static_cast<double>(problem.weights.row(n)[c]), problem.scale[n] * 0.501);
    }
  }
}

TEST(RoundWeights, GptqBeatsNearestOnCorrelatedInputs) {
  for (std::uint64_t seed = 10; seed < 16; ++seed) {
    Random random(seed);
    const std::size_t inputs = 100 + 40 * (seed % 3);  // not always a multiple of kBlock
    const Hessian hessian = hessian_of(correlated_rows(random, 900, inputs));
    const RoundingProblem problem = problem_of(test::random_matrix(random, 50, inputs, 0.2F));
    const double nearest =
        relative_error(problem, round_weights(problem, hessian, Rounding::kNearest), hessian);
    const double gptq =
        relative_error(problem, round_weights(problem, hessian, Rounding::kGptq), hessian);
    EXPECT_LT(gptq, 0.7 * nearest) << seed;
    EXPECT_GT(gptq, 0) << seed;
  }
}

TEST(RoundWeights, GroupsOfInputsHaveScalesOfTheirOwn) {
  Random random(7);
  Matrix weights = test::random_matrix(random, 20, 60, 0.2F);
  RoundingProblem one = problem_of(weights);
  for (std::size_t n = 0; n < 20; ++n) weights.data[n * 60 + 4] *= 50;  // one wide input
  RoundingProblem two = problem_of(weights);
  two.scale.insert(two.scale.end(), one.scale.begin(), one.scale.end());
  two.group.assign(60, 1);
  two.group[4] = 0;
  const Hessian hessian = hessian_of(correlated_rows(random, 500, 60));
  for (const Rounding rounding : {Rounding::kNearest, Rounding::kGptq}) {
    const RoundedWeights rounded = round_weights(two, hessian, rounding);
    RoundingProblem coarse = problem_of(weights);
    EXPECT_LT(relative_error(two, rounded, hessian),
              0.2 * relative_error(coarse, round_weights(coarse, hessian, rounding), hessian));
  }
}

TEST(RoundWeights, IndependentInputsAreRoundedToTheNearest) {
  Hessian hessian{24, std::vector<double>(24 * 24)};
  for (std::size_t i = 0; i < 24; ++i) hessian.values[i * 24 + i] = 1.0 + static_cast<double>(i);
  Random random(4);
  const RoundingProblem problem = problem_of(test::random_matrix(random, 9, 24, 0.2F));
  EXPECT_EQ(round_weights(problem, hessian, Rounding::kGptq).codes,
            round_weights(problem, hessian, Rounding::kNearest).codes);
}

TEST(RoundWeights, DeadInputsAndZeroRows) {
  Random random(5);
  Matrix rows = correlated_rows(random, 300, 40);
  for (std::size_t r = 0; r < rows.rows; ++r) {
    rows.data[r * 40 + 3] = 0;                      // never used
    rows.data[r * 40 + 9] = rows.data[r * 40 + 8];  // the same input twice
  }
  Matrix weights = test::random_matrix(random, 12, 40, 0.2F);
  std::fill_n(weights.data.begin() + 5 * 40, 40, 0.0F);
  const RoundingProblem problem = problem_of(weights);
  const Hessian hessian = hessian_of(rows);
  const RoundedWeights rounded = round_weights(problem, hessian, Rounding::kGptq);
  for (std::size_t c = 0; c < 40; ++c) EXPECT_EQ(rounded.row(5)[c], 0);
  EXPECT_LT(relative_error(problem, rounded, hessian), 0.02);

  const Hessian nothing{40, std::vector<double>(1600, 0.0)};
  EXPECT_EQ(round_weights(problem, nothing, Rounding::kGptq).codes,
            round_weights(problem, nothing, Rounding::kNearest).codes);
  EXPECT_EQ(relative_error(problem, rounded, nothing), 0);
}

TEST(RoundWeights, HessianOfNoRowsIsAWarning) {
  Random random(7);
  const RoundingProblem problem = problem_of(test::random_matrix(random, 5, 2, 0.2F));
  const Hessian impossible{2, {1, 3, 3, 1}};
  const RoundedWeights rounded = round_weights(problem, impossible, Rounding::kGptq);
  EXPECT_EQ(rounded.codes, round_weights(problem, {}, Rounding::kNearest).codes);
  EXPECT_EQ(rounded.warning,
            "t: the Hessian of its calibration inputs is not positive definite; weights rounded to "
            "the nearest");
  EXPECT_EQ(round_weights(problem, {2, {1, 0, 0, 1}}, Rounding::kGptq).warning, "");
}

TEST(RoundWeights, KeepsToTheLimits) {
  Random random(6);
  const Hessian hessian = hessian_of(correlated_rows(random, 300, 64));
  RoundingProblem problem = problem_of(test::random_matrix(random, 16, 64, 0.2F));
  for (double& scale : problem.scale) scale /= 4;
  problem.limit[7] = 127 * 5;
  const RoundedWeights rounded = round_weights(problem, hessian, Rounding::kGptq);
  for (std::size_t n = 0; n < 16; ++n) {
    for (std::size_t c = 0; c < 64; ++c) EXPECT_LE(std::abs(rounded.row(n)[c]), problem.limit[c]);
  }
}

}  // namespace
}  // namespace embert::convert
