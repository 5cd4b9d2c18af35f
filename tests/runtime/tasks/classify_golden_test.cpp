// SPDX-License-Identifier: Apache-2.0
// Labels against pipeline('text-classification'), sentence vectors against the mean of
// pipeline('feature-extraction').
#include <algorithm>

#include "embert/embert_tasks.h"
#include "embert/embert_vector.h"

#include "tests/runtime/tasks/task_golden.hpp"

namespace embert::test {
namespace {

embert_problem problem_of(const std::string& name) {
  return name == "multi_label_classification" ? EMBERT_PROBLEM_MULTI_LABEL
         : name == "regression"               ? EMBERT_PROBLEM_REGRESSION
                                              : EMBERT_PROBLEM_SINGLE_LABEL;
}

TEST(ClassifyGolden, EveryHeadAndCall) {
  EMBERT_NEED_SHARED_DIR();
  int compared = 0;
  const Json golden = read_task("text_classification");
  for (const Json& head : golden["heads"]) {
    const std::vector<std::string> names = head["labels"];
    for (const Json& item : head["items"]) {
      SCOPED_TRACE(item["text"].dump());
      const std::vector<std::int32_t> logits = quantize_logits(item["logits"]);
      for (std::size_t call = 0; call < head["calls"].size(); ++call) {
        const Json &function = head["calls"][call]["function_to_apply"],
                   &top_k = head["calls"][call]["top_k"];
        const embert_score_function applied =
            function.is_null()
                ? embert_default_score_function(problem_of(head["problem_type"]),
                                                static_cast<std::uint32_t>(names.size()))
            : function == "softmax" ? EMBERT_SCORE_SOFTMAX
            : function == "sigmoid" ? EMBERT_SCORE_SIGMOID
                                    : EMBERT_SCORE_NONE;
        std::vector<embert_label_score> labels(names.size());
        const embert_logits row = {
            .values = logits.data(), .count = logits.size(), .scale = scale_of(kTestScale)};
        embert_labels list = {.items = labels.data(), .capacity = labels.size()};
        ASSERT_EQ(embert_rank_labels(&row, applied, top_k.is_null() ? 0 : top_k.get<std::size_t>(),
                                     &list),
                  EMBERT_STATUS_OK);
        const std::size_t count = list.count;
        const Json& expected = item["results"][call];
        ASSERT_EQ(count, expected.size());
        for (std::size_t i = 0; i < count; ++i) {
          EXPECT_EQ(names.at(labels[i].label), expected[i]["label"].get<std::string>());
          if (applied == EMBERT_SCORE_NONE) {
            EXPECT_NEAR(labels[i].logit * double{kTestScale}, expected[i]["score"].get<double>(),
                        1e-6);
          } else {
            expect_score(labels[i].score, expected[i]["score"]);
          }
          ++compared;
        }
      }
    }
  }
  EXPECT_GE(compared, 2000);
}

TEST(VectorsGolden, UnitVectorsAndCosines) {
  EMBERT_NEED_SHARED_DIR();
  const Json golden = read_task("feature_extraction");
  std::vector<std::vector<std::int16_t>> means;
  for (const Json& item : golden["items"]) {
    const std::vector<double> mean = item["mean"], unit = item["mean_l2"];
    double largest = 0;
    for (const double x : mean) largest = std::max(largest, std::fabs(x));
    means.emplace_back();
    for (const double x : mean)
      means.back().push_back(static_cast<std::int16_t>(std::lround(x / largest * 32767)));
    std::vector<std::int16_t> computed(mean.size());
    ASSERT_EQ(embert_normalize_int16(means.back().data(), mean.size(), computed.data()),
              EMBERT_STATUS_OK);
    // Half a unit of the rounded mean, half a unit of the rounded result.
    for (std::size_t c = 0; c < unit.size(); ++c)
      EXPECT_NEAR(computed[c] / 32768.0, unit[c], 1.1 / 32768);
  }
  for (std::size_t a = 0; a < golden["cosine"].size(); ++a) {
    for (std::size_t b = 0; b < golden["cosine"].size(); ++b) {
      const double expected = golden["cosine"][a][b];
      std::int32_t cosine = 0;
      ASSERT_EQ(embert_cosine_int16(means[a].data(), means[b].data(), means[a].size(), &cosine),
                EMBERT_STATUS_OK);
      EXPECT_NEAR(cosine / 1073741824.0, expected, 2e-5);
      std::vector<std::int8_t> bytes[2] = {std::vector<std::int8_t>(means[a].size()),
                                           std::vector<std::int8_t>(means[b].size())};
      embert_quantize_int8(means[a].data(), means[a].size(), bytes[0].data());
      embert_quantize_int8(means[b].data(), means[b].size(), bytes[1].data());
      ASSERT_EQ(embert_cosine_int8(bytes[0].data(), bytes[1].data(), means[a].size(), &cosine),
                EMBERT_STATUS_OK);
      EXPECT_NEAR(cosine / 1073741824.0, expected, 5e-3);  // 32 values of 8 bits
    }
  }
}

}  // namespace
}  // namespace embert::test
