// SPDX-License-Identifier: Apache-2.0
// When the answers of each task head count as equal.
#include "converter/verify/comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace embert::convert {
namespace {

constexpr double kScale = 0.5;

ModelConfig classifier(ProblemType problem) {
  ModelConfig config;
  config.classifier = ClassifierTask::kSequenceClassification;
  config.problem_type = problem;
  return config;
}

struct Text {
  std::vector<double> floats;
  std::vector<std::int32_t> ints;
};

VerifyResult compare(const ModelConfig& config, std::size_t width, const std::vector<Text>& texts,
                     const VerifyOptions& options = {}) {
  Comparison comparison(config);
  for (const Text& text : texts) comparison.add(text.floats, text.ints, width, kScale);
  return comparison.take(options);
}

TEST(Comparison, EmbeddingsHaveADirectionOnly) {
  const VerifyResult result =
      compare({}, 2, {{{3, 4}, {6, 8}}, {{1, 0}, {1, 1}}, {{0, 0}, {0, 0}}, {{1, 0}, {0, 0}}});
  EXPECT_EQ(result.compared, Compared::kEmbeddings);
  EXPECT_EQ(result.texts, 4u);
  EXPECT_DOUBLE_EQ(result.cosines[0], 1);
  EXPECT_DOUBLE_EQ(result.cosines[1], std::sqrt(0.5));
  EXPECT_EQ(result.cosines[2], 1);
  EXPECT_EQ(result.cosine_min, 0);
  EXPECT_EQ(result.worst[0].text, 3u);
  EXPECT_EQ(result.logit_error_max, 0);
}

TEST(Comparison, OneLabelOfAText) {
  const std::vector<std::int32_t> labels = {1, 1};
  const VerifyOptions options{.worst = 1, .labels = labels};
  const VerifyResult result = compare(classifier(ProblemType::kSingleLabel), 2,
                                      {{{1, 2}, {2, 4}}, {{1, 1.25}, {3, 2}}}, options);
  EXPECT_EQ(result.compared, Compared::kLogits);
  EXPECT_EQ(result.agreement, 0.5);
  EXPECT_EQ(result.logit_error_max, 0.5);
  ASSERT_EQ(result.worst.size(), 1u);
  EXPECT_EQ(result.worst[0].text, 1u);
  EXPECT_EQ(result.worst[0].margin, 0.25);
  EXPECT_EQ(result.worst[0].float_label, 1);
  EXPECT_EQ(result.worst[0].int8_label, 0);
  EXPECT_EQ(result.accuracy_float, 1);
  EXPECT_EQ(result.accuracy_int8, 0.5);
}

TEST(Comparison, SetsOfLabels) {
  const std::vector<Text> texts = {{{2, 1, -1}, {4, 5, -2}}, {{2, 1, -1}, {4, -1, -2}}};
  EXPECT_EQ(compare(classifier(ProblemType::kMultiLabel), 3, texts).agreement, 0.5);
  EXPECT_EQ(compare(classifier(ProblemType::kRegression), 3, texts).agreement, 1);
}

TEST(Comparison, ASingleLogitHasAnErrorAndNoCosine) {
  const VerifyResult result = compare(classifier(ProblemType::kRegression), 1, {{{0.1}, {-1}}});
  EXPECT_EQ(result.cosine_min, 1);
  EXPECT_DOUBLE_EQ(result.logit_error_max, 0.6);
}

TEST(Comparison, LabelsOfTokensAndAnswerSpans) {
  const Text text = {{1, 0, 0, 3, 2, 1}, {2, 0, 6, 6, 7, 2}};  // three tokens, two labels
  ModelConfig config;
  config.token_classifier = TokenTask::kTokenClassification;
  const VerifyResult tokens = compare(config, 2, {text});
  EXPECT_EQ(tokens.compared, Compared::kTokenLogits);
  EXPECT_DOUBLE_EQ(tokens.agreement, 2.0 / 3);  // int8 gives the second token the first label
  EXPECT_EQ(tokens.worst[0].margin, 3);
  EXPECT_EQ(tokens.worst[0].float_label, -1);
  config.token_classifier = TokenTask::kQuestionAnswering;
  EXPECT_EQ(compare(config, 2, {text}).agreement, 1);  // starts at 2, ends at 1
}

TEST(Comparison, TheLanguageHeadComesFirst) {
  ModelConfig config = classifier(ProblemType::kSingleLabel);
  config.language_head = LanguageHeadKind::kBert;
  config.token_classifier = TokenTask::kQuestionAnswering;
  const VerifyResult result = compare(config, 3, {{{1, 5, 2}, {2, 9, 4}}, {{1, 5, 2}, {9, 2, 4}}});
  EXPECT_EQ(result.compared, Compared::kVocabularyLogits);
  EXPECT_EQ(result.agreement, 0.5);
  EXPECT_EQ(result.worst[0].margin, 4);
  EXPECT_EQ(result.worst[0].int8_label, -1);
}

}  // namespace
}  // namespace embert::convert
