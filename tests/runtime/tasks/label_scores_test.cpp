// SPDX-License-Identifier: Apache-2.0
// Softmax, sigmoid, the best k, and labels.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "embert/embert_tasks.h"
#include "embert/embert_vector.h"
#include "tests/runtime/tasks/task_numbers.hpp"
#include "tests/support/random.hpp"

namespace embert::test {
namespace {

class Scores : public SeededTest {};

std::vector<long double> exact_softmax(const std::vector<std::int32_t>& logits, float scale) {
  const std::int32_t highest = *std::max_element(logits.begin(), logits.end());
  std::vector<long double> result;
  for (const std::int32_t logit : logits) {
    result.push_back(std::exp((static_cast<long double>(logit) - highest) * scale));
  }
  const long double sum = std::accumulate(result.begin(), result.end(), 0.0L);
  for (long double& p : result) p /= sum;
  return result;
}

TEST_F(Scores, SoftmaxIsWithinItsError) {
  Random random(1);
  for (const std::size_t n : {1u, 2u, 3u, 17u, 1000u, 30522u}) {
    for (const float scale : {1e-12f, 1e-9f, 1e-6f, 3.7e-5f, 0.01f, 1.0f, 1e20f}) {
      std::vector<std::int32_t> logits(n);
      random.fill(logits.data(), n, INT32_MIN >> random.below(31), INT32_MAX >> random.below(31));
      const std::vector<long double> exact = exact_softmax(logits, scale);
      std::vector<embert_q30> scores(n);
      ASSERT_EQ(embert_softmax_q30(logits.data(), 1, n, scale_of(scale), scores.data()),
                EMBERT_STATUS_OK);
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_NEAR(real(scores[i]), static_cast<double>(exact[i]),
                    1e-9 + 3e-8 * static_cast<double>(exact[i]))
            << n << " " << scale;
      }
    }
  }
}

TEST_F(Scores, SoftmaxOfExtremes) {
  const std::vector<std::int32_t> logits = {INT32_MIN, INT32_MAX, INT32_MIN, INT32_MAX, 0};
  std::vector<embert_q30> scores(5);
  ASSERT_EQ(embert_softmax_q30(logits.data(), 1, 5, scale_of(1e-6f), scores.data()),
            EMBERT_STATUS_OK);
  EXPECT_EQ(scores, (std::vector<embert_q30>{0, EMBERT_Q30_ONE / 2, 0, EMBERT_Q30_ONE / 2, 0}));
  const std::int32_t lowest = INT32_MIN;
  ASSERT_EQ(embert_softmax_q30(&lowest, 1, 1, scale_of(1.0f), scores.data()), EMBERT_STATUS_OK);
  EXPECT_EQ(scores[0], EMBERT_Q30_ONE);
}

TEST_F(Scores, SoftmaxWorksByRowAndInPlace) {
  std::vector<std::int32_t> logits = {5, 5, 0, 1 << 20, 1 << 20, 1 << 21};
  const std::vector<std::int32_t> rows[] = {{5, 5, 0}, {1 << 20, 1 << 20, 1 << 21}};
  std::vector<embert_q30> expected(6);
  for (std::size_t row = 0; row < 2; ++row) {
    ASSERT_EQ(embert_softmax_q30(rows[row].data(), 1, 3, scale_of(1e-6f), &expected[3 * row]),
              EMBERT_STATUS_OK);
  }
  std::uint32_t* scores = reinterpret_cast<std::uint32_t*>(logits.data());
  ASSERT_EQ(embert_softmax_q30(logits.data(), 2, 3, scale_of(1e-6f), scores), EMBERT_STATUS_OK);
  EXPECT_EQ(std::vector<embert_q30>(scores, scores + 6), expected);
  EXPECT_GT(expected[5], expected[2]);
}

TEST_F(Scores, SigmoidIsWithinItsError) {
  Random random(2);
  for (const float scale : {1e-9f, 1e-6f, 0.01f, 1e10f}) {
    std::vector<std::int32_t> logits = {0, 1, -1, INT32_MIN, INT32_MAX};
    for (int i = 0; i < 1000; ++i) {
      logits.push_back(static_cast<std::int32_t>(random.next()) >> random.below(32));
    }
    std::vector<embert_q30> scores(logits.size());
    ASSERT_EQ(embert_sigmoid_q30(logits.data(), logits.size(), scale_of(scale), scores.data()),
              EMBERT_STATUS_OK);
    EXPECT_EQ(scores[0], EMBERT_Q30_ONE / 2);
    for (std::size_t i = 0; i < logits.size(); ++i) {
      const double exact = 1.0 / (1.0 + std::exp(-static_cast<double>(logits[i]) * double{scale}));
      EXPECT_NEAR(real(scores[i]), exact, 1e-9 + 3e-8 * exact) << logits[i] << " " << scale;
    }
  }
}

TEST_F(Scores, TopKIsStable) {
  const std::int32_t values[] = {3, 9, 3, -7, 9, INT32_MAX, INT32_MIN};
  std::uint32_t indices[7];
  std::size_t count = 0;
  ASSERT_EQ(embert_top_k(values, 7, 4, indices, &count), EMBERT_STATUS_OK);
  EXPECT_EQ(std::vector<std::uint32_t>(indices, indices + count),
            (std::vector<std::uint32_t>{5, 1, 4, 0}));
  ASSERT_EQ(embert_top_k(values, 7, 100, indices, &count), EMBERT_STATUS_OK);
  EXPECT_EQ(std::vector<std::uint32_t>(indices, indices + count),
            (std::vector<std::uint32_t>{5, 1, 4, 0, 2, 3, 6}));
}

TEST_F(Scores, BadArguments) {
  const std::int32_t logits[2] = {1, 2};
  embert_q30 scores[2];
  const embert_scale one = scale_of(1.0f), bad = scale_of(0.0f);
  EXPECT_EQ(embert_softmax_q30(nullptr, 1, 2, one, scores), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_softmax_q30(logits, 1, 2, one, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_softmax_q30(logits, 1, 2, bad, scores), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(embert_softmax_q30(logits, 1, (1u << 23) + 1, one, scores),
            EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(embert_softmax_q30(logits, 0, 2, one, scores), EMBERT_STATUS_EMPTY_INPUT);
  EXPECT_EQ(embert_softmax_q30(logits, 1, 0, one, scores), EMBERT_STATUS_EMPTY_INPUT);
  EXPECT_EQ(embert_sigmoid_q30(nullptr, 2, one, scores), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_sigmoid_q30(logits, 2, one, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_sigmoid_q30(logits, 2, bad, scores), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(embert_sigmoid_q30(logits, 0, one, scores), EMBERT_STATUS_EMPTY_INPUT);
  std::uint32_t indices[2];
  std::size_t count = 0;
  EXPECT_EQ(embert_top_k(nullptr, 2, 1, indices, &count), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_top_k(logits, 2, 1, nullptr, &count), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_top_k(logits, 2, 1, indices, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_top_k(logits, 2, 0, indices, &count), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(embert_top_k(logits, 0, 1, indices, &count), EMBERT_STATUS_EMPTY_INPUT);
}

TEST_F(Scores, OfLogarithms) {
  EXPECT_EQ(embert_q30_of_log2(0), EMBERT_Q30_ONE);
  EXPECT_EQ(embert_q30_of_log2(1), EMBERT_Q30_ONE);
  EXPECT_EQ(embert_q30_of_log2(-(int64_t{1} << 26)), EMBERT_Q30_ONE / 2);
  EXPECT_EQ(embert_q30_of_log2(INT64_MIN), 0u);
}

TEST_F(Scores, FloatHelpers) {
  EXPECT_EQ(embert_q30_to_float(EMBERT_Q30_ONE), 1.0f);
  EXPECT_EQ(embert_cosine_to_float(-(1 << 29)), -0.5f);
  EXPECT_FLOAT_EQ(embert_log2_to_float(-(int64_t{1} << 26)), -std::log(2.0f));
}

TEST(Labels, EachFunction) {
  const std::vector<std::int32_t> logits = quantize_logits({0.5, 2.0, -1.0, 2.0});
  const embert_scale scale = scale_of(kTestScale);
  embert_label_score labels[4];
  const embert_logits row = {.values = logits.data(), .count = 4, .scale = scale};
  embert_labels list = {.items = labels, .capacity = 4};
  for (const embert_score_function function :
       {EMBERT_SCORE_SOFTMAX, EMBERT_SCORE_SIGMOID, EMBERT_SCORE_NONE}) {
    ASSERT_EQ(embert_rank_labels(&row, function, 0, &list), EMBERT_STATUS_OK);
    ASSERT_EQ(list.count, 4u);
    EXPECT_EQ(list.scale.float_bits, scale.float_bits);
    const std::uint32_t order[] = {1, 3, 0, 2};
    const double sum = 2 * std::exp(2.0) + std::exp(0.5) + std::exp(-1.0);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(labels[i].label, order[i]);
      EXPECT_EQ(labels[i].logit, logits[order[i]]);
      const double x = logits[order[i]] * double{kTestScale};
      const double expected = function == EMBERT_SCORE_SOFTMAX   ? std::exp(x) / sum
                              : function == EMBERT_SCORE_SIGMOID ? 1 / (1 + std::exp(-x))
                                                                 : 0.0;
      EXPECT_NEAR(real(labels[i].score), expected, 1e-8);
    }
  }
}

TEST(Labels, RoomIsForWhatIsAskedFor) {
  const std::int32_t logits[] = {1, 3, 2};
  const embert_logits row = {.values = logits, .count = 3, .scale = scale_of(1.0f)};
  embert_label_score labels[3];
  embert_labels list = {.items = labels};
  const auto rank = [&](std::size_t top_k, std::size_t capacity) {
    list.capacity = capacity;
    return embert_rank_labels(&row, EMBERT_SCORE_SOFTMAX, top_k, &list);
  };
  EXPECT_EQ(rank(2, 1), EMBERT_STATUS_BUFFER_TOO_SMALL);
  EXPECT_EQ(list.count, 2u);
  EXPECT_EQ(rank(0, 2), EMBERT_STATUS_BUFFER_TOO_SMALL);
  EXPECT_EQ(list.count, 3u);
  EXPECT_EQ(rank(2, 2), EMBERT_STATUS_OK);
  EXPECT_EQ(list.count, 2u);
  EXPECT_EQ(labels[1].label, 2u);
  EXPECT_EQ(rank(100, 3), EMBERT_STATUS_OK);
  EXPECT_EQ(list.count, 3u);
}

TEST(Labels, BadArguments) {
  const std::int32_t logits[] = {1, 3};
  const embert_scale one = scale_of(1.0f);
  embert_label_score labels[2];
  embert_labels list = {.items = labels, .capacity = 2},
                no_items = {.items = nullptr, .capacity = 2};
  const auto rank = [&](const embert_logits& row, int function, embert_labels* out) {
    return embert_rank_labels(&row, static_cast<embert_score_function>(function), 1, out);
  };
  EXPECT_EQ(rank({nullptr, 2, one}, 0, &list), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(rank({logits, 2, one}, 0, &no_items), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(rank({logits, 2, one}, 0, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_rank_labels(nullptr, EMBERT_SCORE_NONE, 1, &list), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(rank({logits, 2, scale_of(-1.0f)}, 0, &list), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(rank({logits, 2, one}, 3, &list), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(rank({logits, (1u << 23) + 1, one}, 0, &list), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(rank({logits, 0, one}, 0, &list), EMBERT_STATUS_EMPTY_INPUT);
}

TEST(Labels, DefaultFunctions) {
  EXPECT_EQ(embert_default_score_function(EMBERT_PROBLEM_SINGLE_LABEL, 5), EMBERT_SCORE_SOFTMAX);
  EXPECT_EQ(embert_default_score_function(EMBERT_PROBLEM_SINGLE_LABEL, 1), EMBERT_SCORE_SIGMOID);
  EXPECT_EQ(embert_default_score_function(EMBERT_PROBLEM_MULTI_LABEL, 5), EMBERT_SCORE_SIGMOID);
  EXPECT_EQ(embert_default_score_function(EMBERT_PROBLEM_REGRESSION, 1), EMBERT_SCORE_SIGMOID);
  EXPECT_EQ(embert_default_score_function(EMBERT_PROBLEM_REGRESSION, 2), EMBERT_SCORE_NONE);
}

}  // namespace
}  // namespace embert::test
