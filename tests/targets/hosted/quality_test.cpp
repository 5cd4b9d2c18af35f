// SPDX-License-Identifier: Apache-2.0
// Measures of a task against those of seqeval, torchmetrics (SQuAD), scikit-learn and scipy.
#include "targets/hosted/convert/quality.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "targets/hosted/convert/span_quality.hpp"
#include "targets/hosted/convert/tag_quality.hpp"
#include "tests/support/scratch_folder.hpp"

namespace embert::hosted {
namespace {

using Json = nlohmann::json;

Json golden(const std::string& task) {
  return Json::parse(test::read_bytes(std::string(EMBERT_SOURCE_DIR) +
                                      "/tests/data/task-metrics/metrics.json"))[task];
}

void expect_both(const BothModels& found, const Json& expected, double error = 1e-12) {
  EXPECT_NEAR(found.float32, expected["float32"].get<double>(), error);
  EXPECT_NEAR(found.int8, expected["int8"].get<double>(), error);
}

TEST(Quality, LabelsAsScikitLearn) {
  const Json json = golden("labels");
  const auto right = json["right"].get<std::vector<int32_t>>();
  const auto by_float = json["float32"].get<std::vector<int32_t>>();
  const auto by_int8 = json["int8"].get<std::vector<int32_t>>();
  const LabelQuality quality = label_quality({right, by_float, by_int8});
  expect_both(quality.accuracy, json["accuracy"]);
  expect_both(quality.f1_macro, json["f1_macro"]);
  EXPECT_NEAR(quality.loss.value, quality.accuracy.float32 - quality.accuracy.int8, 1e-12);
  EXPECT_LT(quality.loss.low, quality.loss.value);
  EXPECT_GT(quality.loss.high, quality.loss.value);
}

TEST(Quality, ScoresAsScipy) {
  const Json json = golden("scores");
  const ScoreQuality quality = score_quality({json["gold"], json["float32"], json["int8"]});
  expect_both(quality.spearman, json["spearman"]);
  EXPECT_NEAR(quality.loss.value, quality.spearman.float32 - quality.spearman.int8, 1e-12);
  EXPECT_LT(quality.loss.low, quality.loss.value);
  EXPECT_GT(quality.loss.high, quality.loss.value);
}

TEST(Quality, AnswersAsSquad) {
  const Json json = golden("spans");
  for (const Json& pair : json["pairs"]) {
    const std::string right = pair[0], found = pair[1];
    EXPECT_EQ(exact_match(right, found), pair[2].get<double>()) << pair;
    EXPECT_NEAR(answer_f1(right, found), pair[3].get<double>(), 1e-6) << pair;
  }
  std::vector<AnsweredQuestion> questions;
  for (const Json& entry : json["questions"]) questions.push_back({entry[0], entry[1], entry[2]});
  const SpanQuality quality = span_quality(questions);
  expect_both(quality.exact_match, json["exact_match"], 1e-6);  // of float32
  expect_both(quality.f1, json["f1"], 1e-6);
  EXPECT_NEAR(quality.loss.value, json["loss"].get<double>(), 1e-6);
  // Of other random samples, and 20 times as many.
  const double width = json["interval"][1].get<double>() - json["interval"][0].get<double>();
  EXPECT_NEAR(quality.loss.low, json["interval"][0].get<double>(), width / 10);
  EXPECT_NEAR(quality.loss.high, json["interval"][1].get<double>(), width / 10);
}

TEST(Quality, TagsAsSeqeval) {
  const Json json = golden("tags");
  const auto names = json["names"].get<std::vector<std::string>>();
  std::vector<TaggedSentence> sentences;
  for (const Json& entry : json["sentences"]) {
    sentences.push_back({entry["right"], entry["float32"], entry["int8"]});
    Json entities = Json::array();
    for (const TaggedEntity& entity : tagged_entities(names, sentences.back().right)) {
      entities.push_back({entity.first, entity.last, entity.kind});
    }
    EXPECT_EQ(entities, entry["entities"]) << entry["right"];
  }
  const TagQuality quality = tag_quality(names, sentences);
  expect_both(quality.precision, json["precision"]);
  expect_both(quality.recall, json["recall"]);
  expect_both(quality.f1, json["f1"]);
  EXPECT_NEAR(quality.loss.value, quality.f1.float32 - quality.f1.int8, 1e-12);
  EXPECT_LT(quality.loss.low, quality.loss.value);
  EXPECT_GT(quality.loss.high, quality.loss.value);
  EXPECT_TRUE(tagged_entities(names, {-1, 0, -1}).empty()) << "-1 is O";
}

TEST(Quality, BootstrapDrawsTheSameSamplesEachTime) {
  const auto loss_of = [](std::span<const size_t> sample) {
    double sum = 0;
    for (const size_t item : sample) sum += static_cast<double>(item);
    return sum;
  };
  const Loss one = bootstrapped_loss(9, loss_of), two = bootstrapped_loss(9, loss_of);
  EXPECT_EQ(one.value, 36);
  EXPECT_LT(one.low, 36);
  EXPECT_GT(one.high, 36);
  EXPECT_EQ(one.low, two.low);
  EXPECT_EQ(one.high, two.high);
}

}  // namespace
}  // namespace embert::hosted
