// SPDX-License-Identifier: Apache-2.0
// Tokens of a vocabulary: the streaming list, scores, targets, drawing.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "embert/embert_tasks.h"
#include "runtime/tasks/top_list.hpp"
#include "tests/runtime/tasks/task_numbers.hpp"
#include "tests/support/random.hpp"

namespace embert::test {
namespace {

class Candidates : public SeededTest {};

embert_candidates list_of(std::vector<embert_candidate>& items) {
  return {.items = items.data(), .capacity = items.size(), .count = items.size()};
}

std::vector<embert_candidate> top(const std::vector<std::int32_t>& logits, std::size_t k,
                                  embert_log_sum* sum = nullptr) {
  std::vector<embert_candidate> candidates(k);
  const embert_logits row = {logits.data(), logits.size(), scale_of(kTestScale)};
  embert_candidates best = {.items = candidates.data(), .capacity = k};
  EXPECT_EQ(embert_top_candidates(&row, &best, sum), EMBERT_STATUS_OK);
  candidates.resize(best.count);
  return candidates;
}

TEST_F(Candidates, AreTheBestOfTheVocabulary) {
  Random random(1);
  for (const std::size_t n : {1u, 5u, 1000u, 30522u}) {
    std::vector<std::int32_t> logits(n);
    for (std::int32_t& logit : logits)
      logit = static_cast<std::int32_t>(random.uniform(-20 << 8, 5 << 8)) << 12;
    std::vector<std::int32_t> ids(n);
    std::iota(ids.begin(), ids.end(), 0);
    std::stable_sort(ids.begin(), ids.end(), [&](std::int32_t a, std::int32_t b) {
      return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)];
    });
    long double sum = 0;
    for (const std::int32_t logit : logits)
      sum += std::exp(static_cast<long double>(logit) * kTestScale);
    const std::vector<embert_candidate> found = top(logits, 20);
    ASSERT_EQ(found.size(), std::min<std::size_t>(20, n));
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].id, ids[i]);
      EXPECT_EQ(found[i].logit, logits[static_cast<std::size_t>(ids[i])]);
      const long double p = std::exp(static_cast<long double>(found[i].logit) * kTestScale) / sum;
      EXPECT_NEAR(real(found[i].score), static_cast<double>(p),
                  1e-9 + 3e-8 * static_cast<double>(p));
      EXPECT_NEAR(real_log(found[i].log2_score), static_cast<double>(std::log(p)), 1e-7);
    }
  }
}

/// Blocks of any size, in falling, rising or random order of logits, are as good as one block.
TEST_F(Candidates, InBlocksAreTheSame) {
  Random random(2);
  for (int order = 0; order < 3; ++order) {
    for (const std::size_t block : {1u, 7u, 64u, 5000u}) {
      std::vector<std::int32_t> logits(5000);
      for (std::int32_t& logit : logits)
        logit = static_cast<std::int32_t>(random.uniform(-12 << 20, 12 << 20));
      if (order == 0) std::sort(logits.begin(), logits.end());
      if (order == 1) std::sort(logits.rbegin(), logits.rend());
      embert_log_sum whole_sum;
      const std::vector<embert_candidate> whole = top(logits, 9, &whole_sum);
      LogitRatio ratio;
      ASSERT_TRUE(make_logit_ratio(scale_of(kTestScale), &ratio));
      embert_candidate room[9];
      TopList list = begin_top_list(room, 9, ratio);
      for (std::size_t at = 0; at < logits.size(); at += block) {
        add_to_top_list(&list, logits.data() + at, std::min(block, logits.size() - at),
                        static_cast<std::int32_t>(at));
      }
      const embert_log_sum sum = finish_top_list(&list);
      EXPECT_EQ(sum.highest, whole_sum.highest);
      EXPECT_NEAR(sum.log2_sum_q26, whole_sum.log2_sum_q26, 16.0);  // up to 5000 new highest
      ASSERT_EQ(list.count, whole.size());
      for (std::size_t i = 0; i < list.count; ++i) {
        EXPECT_EQ(room[i].id, whole[i].id);
        EXPECT_EQ(room[i].logit, whole[i].logit);
        EXPECT_NEAR(real(room[i].score), real(whole[i].score), 1e-7);
      }
    }
  }
}

TEST_F(Candidates, OnlyTheDenominator) {
  LogitRatio ratio;
  ASSERT_TRUE(make_logit_ratio(scale_of(1.0f), &ratio));
  TopList list = begin_top_list(nullptr, 0, ratio);
  const std::vector<std::int32_t> logits(1 << 16, 7);
  for (int i = 0; i < 128; ++i) add_to_top_list(&list, logits.data(), logits.size(), i << 16);
  const embert_log_sum sum = finish_top_list(&list);
  EXPECT_EQ(list.count, 0u);
  EXPECT_EQ(sum.highest, 7);
  EXPECT_EQ(sum.log2_sum_q26, 23u << 26);  // 2^23 logits, as many as there may be
}

TEST_F(Candidates, LogitsAtTheEnds) {
  LogitRatio ratio;
  ASSERT_TRUE(make_logit_ratio(scale_of(1e30f), &ratio));
  embert_candidate room[3];
  TopList list = begin_top_list(room, 3, ratio);
  const std::int32_t blocks[2][2] = {{INT32_MIN, INT32_MIN}, {INT32_MAX, INT32_MIN}};
  add_to_top_list(&list, blocks[0], 2, 0);
  add_to_top_list(&list, blocks[1], 2, 2);
  const embert_log_sum sum = finish_top_list(&list);
  EXPECT_EQ(sum.log2_sum_q26, 0u);
  EXPECT_EQ(room[0].id, 2);
  EXPECT_EQ(room[0].score, EMBERT_Q30_ONE);
  EXPECT_EQ(room[1].id, 0);
  EXPECT_EQ(room[1].score, 0u);
  EXPECT_EQ(room[1].log2_score, -(int64_t{1} << 40));
}

TEST_F(Candidates, TargetsAreScoredAndRanked) {
  const std::vector<std::int32_t> logits = quantize_logits({1.0, 3.0, -2.0, 3.0, 0.5});
  embert_log_sum sum;
  const std::vector<embert_candidate> best = top(logits, 5, &sum);
  std::vector<embert_candidate> targets;
  for (const std::int32_t id : {4, 3, 4, 0, 1, 3}) {
    targets.push_back({id, logits[static_cast<std::size_t>(id)], 0, 0});
  }
  embert_candidates list = list_of(targets);
  ASSERT_EQ(embert_score_candidates(&list, &sum, scale_of(kTestScale)), EMBERT_STATUS_OK);
  ASSERT_EQ(embert_rank_candidates(&list), EMBERT_STATUS_OK);
  ASSERT_EQ(list.count, 4u);
  const std::int32_t order[] = {1, 3, 0, 4};
  for (std::size_t i = 0; i < list.count; ++i) {
    EXPECT_EQ(targets[i].id, order[i]);
    const auto same = std::find_if(best.begin(), best.end(),
                                   [&](const auto& c) { return c.id == targets[i].id; });
    EXPECT_EQ(targets[i].score, same->score);
    EXPECT_EQ(targets[i].log2_score, same->log2_score);
  }
}

TEST_F(Candidates, BadArguments) {
  const std::int32_t logits[] = {1, 2};
  embert_candidate items[2] = {{0, 1, 0, 0}, {1, 2, 0, 0}};
  embert_candidates list = {.items = items, .capacity = 1, .count = 2}, no_items = list;
  no_items.items = nullptr;
  embert_log_sum sum = {2, 0};
  const embert_scale one = scale_of(1.0f), bad = scale_of(INFINITY);
  const auto top_of = [&](const embert_logits& row, embert_candidates* best) {
    return embert_top_candidates(&row, best, &sum);
  };
  EXPECT_EQ(embert_top_candidates(nullptr, &list, &sum), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(top_of({nullptr, 2, one}, &list), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(top_of({logits, 2, one}, &no_items), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(top_of({logits, 2, one}, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  list.capacity = 0;
  EXPECT_EQ(top_of({logits, 2, one}, &list), EMBERT_STATUS_INVALID_OPTION);
  list.capacity = 1;
  EXPECT_EQ(top_of({logits, 2, bad}, &list), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(top_of({logits, (1u << 23) + 1, one}, &list), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(top_of({logits, 0, one}, &list), EMBERT_STATUS_EMPTY_INPUT);
  EXPECT_EQ(embert_score_candidates(nullptr, &sum, one), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_score_candidates(&no_items, &sum, one), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_score_candidates(&list, nullptr, one), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_score_candidates(&list, &sum, bad), EMBERT_STATUS_INVALID_OPTION);
  sum.highest = 1;  // below a logit
  EXPECT_EQ(embert_score_candidates(&list, &sum, one), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(embert_rank_candidates(nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_rank_candidates(&no_items), EMBERT_STATUS_NULL_ARGUMENT);
  list.count = 0;
  EXPECT_EQ(embert_score_candidates(&list, &sum, one), EMBERT_STATUS_EMPTY_INPUT);
  EXPECT_EQ(embert_rank_candidates(&list), EMBERT_STATUS_EMPTY_INPUT);
}

embert_sample_options sampling(std::uint32_t temperature_q16, embert_q30 top_p, std::size_t top_k) {
  return {.size = sizeof(embert_sample_options),
          .temperature_q16 = temperature_q16,
          .top_p = top_p,
          .top_k = top_k};
}

class Sampling : public SeededTest {
 protected:
  std::vector<embert_candidate> candidates_;

  void SetUp() override {
    for (const double p : {0.4, 0.3, 0.2, 0.1}) {
      candidates_.push_back(
          {static_cast<std::int32_t>(candidates_.size()), quantize_logit(std::log(p)), 0, 0});
    }
  }
  std::size_t draw(const embert_sample_options& options, std::uint32_t random) {
    std::size_t index = 99;
    const embert_candidates list = list_of(candidates_);
    EXPECT_EQ(embert_sample_candidate(&list, scale_of(kTestScale), &options, random, &index),
              EMBERT_STATUS_OK);
    return index;
  }
  /// Shares of 2^16 evenly spread random numbers.
  std::vector<double> shares(const embert_sample_options& options) {
    std::vector<double> result(4);
    for (std::uint32_t i = 0; i < 65536; ++i)
      result[draw(options, (i << 16) + 32768)] += 1.0 / 65536;
    return result;
  }
};

void expect_shares(const std::vector<double>& shares, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(shares[i], expected[i], 2e-5) << i;
}

TEST_F(Sampling, DrawsByProbability) {
  expect_shares(shares(sampling(65536, EMBERT_Q30_ONE, 0)), {0.4, 0.3, 0.2, 0.1});
  EXPECT_EQ(draw(sampling(65536, EMBERT_Q30_ONE, 0), 0), 0u);
  EXPECT_EQ(draw(sampling(65536, EMBERT_Q30_ONE, 0), UINT32_MAX), 3u);
}

TEST_F(Sampling, TopKAndTopP) {
  expect_shares(shares(sampling(65536, EMBERT_Q30_ONE, 2)), {4.0 / 7, 3.0 / 7, 0, 0});
  expect_shares(shares(sampling(65536, EMBERT_Q30_ONE, 9)), {0.4, 0.3, 0.2, 0.1});
  expect_shares(shares(sampling(65536, q30(0.5), 0)), {4.0 / 7, 3.0 / 7, 0, 0});
  expect_shares(shares(sampling(65536, q30(0.75), 0)), {4.0 / 9, 3.0 / 9, 2.0 / 9, 0});
  expect_shares(shares(sampling(65536, 1, 0)), {1, 0, 0, 0});
  // The nucleus is of what top_k left: 4/9 are not enough for 0.5, 7/9 are.
  expect_shares(shares(sampling(65536, q30(0.5), 3)), {4.0 / 7, 3.0 / 7, 0, 0});
  expect_shares(shares(sampling(65536, q30(0.43), 3)), {1, 0, 0, 0});
}

TEST_F(Sampling, Temperature) {
  const double sum = 0.16 + 0.09 + 0.04 + 0.01;
  expect_shares(shares(sampling(32768, EMBERT_Q30_ONE, 0)),
                {0.16 / sum, 0.09 / sum, 0.04 / sum, 0.01 / sum});
  expect_shares(shares(sampling(1, EMBERT_Q30_ONE, 0)), {1, 0, 0, 0});
  const std::vector<double> flat = shares(sampling(UINT32_MAX, EMBERT_Q30_ONE, 0));
  for (const double share : flat) EXPECT_NEAR(share, 0.25, 1e-4);
}

TEST_F(Sampling, TheLargestList) {
  candidates_.assign(65536, {0, 5, 0, 0});
  EXPECT_EQ(draw(sampling(65536, EMBERT_Q30_ONE, 0), UINT32_MAX), 65535u);
  EXPECT_EQ(draw(sampling(65536, EMBERT_Q30_ONE / 2, 0), UINT32_MAX), 32767u);
  EXPECT_EQ(draw(sampling(65536, EMBERT_Q30_ONE, 0), 1u << 31), 32768u);
  candidates_.push_back({0, 5, 0, 0});
  const embert_sample_options options = sampling(65536, EMBERT_Q30_ONE, 0);
  std::size_t index = 0;
  const embert_candidates list = list_of(candidates_);
  EXPECT_EQ(embert_sample_candidate(&list, scale_of(1.0f), &options, 0, &index),
            EMBERT_STATUS_INVALID_OPTION);
}

TEST_F(Sampling, BadArguments) {
  const auto sample = [&](embert_sample_options options, std::size_t n, float scale) {
    std::size_t index = 0;
    const embert_candidates list = {.items = candidates_.data(), .capacity = n, .count = n};
    return embert_sample_candidate(&list, scale_of(scale), &options, 0, &index);
  };
  const embert_sample_options good = sampling(65536, EMBERT_Q30_ONE, 0);
  std::size_t index = 0;
  const embert_candidates list = list_of(candidates_), no_items = {.capacity = 4, .count = 4};
  const embert_scale one = scale_of(1.0f);
  EXPECT_EQ(embert_sample_candidate(nullptr, one, &good, 0, &index), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_sample_candidate(&no_items, one, &good, 0, &index), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_sample_candidate(&list, one, nullptr, 0, &index), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(embert_sample_candidate(&list, one, &good, 0, nullptr), EMBERT_STATUS_NULL_ARGUMENT);
  EXPECT_EQ(sample(good, 4, 1.0f), EMBERT_STATUS_OK);
  EXPECT_EQ(sample(good, 4, 0.0f), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(sample(good, 0, 1.0f), EMBERT_STATUS_EMPTY_INPUT);
  EXPECT_EQ(sample(sampling(0, EMBERT_Q30_ONE, 0), 4, 1.0f), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(sample(sampling(65536, 0, 0), 4, 1.0f), EMBERT_STATUS_INVALID_OPTION);
  EXPECT_EQ(sample(sampling(65536, EMBERT_Q30_ONE + 1, 0), 4, 1.0f), EMBERT_STATUS_INVALID_OPTION);
  std::swap(candidates_[1], candidates_[2]);  // not sorted
  EXPECT_EQ(sample(good, 4, 1.0f), EMBERT_STATUS_INVALID_OPTION);
}

}  // namespace
}  // namespace embert::test
