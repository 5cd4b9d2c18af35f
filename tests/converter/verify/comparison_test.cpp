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
  EXPECT_EQ(result.error, 1 - result.cosine_mean);
}

TEST(Comparison, OneLabelOfAText) {
  const std::vector<std::int32_t> labels = {1, 1};
  const VerifyOptions options{.worst = 1, .labels = labels};
  const VerifyResult result = compare(classifier(ProblemType::kSingleLabel), 2,
                                      {{{1, 2}, {2, 4}}, {{1, 1.25}, {3, 2}}}, options);
  EXPECT_EQ(result.compared, Compared::kLogits);
  EXPECT_EQ(result.answer_kind, AnswerKind::kLabel);
  EXPECT_EQ(result.answers, 2u);
  EXPECT_EQ(result.differing_answers, 1u);
  EXPECT_EQ(result.agreement, 0.5);
  EXPECT_EQ(result.logit_error_max, 0.5);
  ASSERT_EQ(result.worst.size(), 1u);
  EXPECT_EQ(result.worst[0].text, 1u);
  EXPECT_EQ(result.worst[0].margin, 0.25);
  EXPECT_DOUBLE_EQ(result.error, (0.25 + 0.0625) / (5 + 1 + 1.5625) / 2);
  EXPECT_EQ(result.worst[0].float_label, 1);
  EXPECT_EQ(result.worst[0].int8_label, 0);
  EXPECT_EQ(result.accuracy_float, 1);
  EXPECT_EQ(result.accuracy_int8, 0.5);
}

TEST(Comparison, SetsOfLabels) {
  const std::vector<Text> texts = {{{2, 1, -1}, {4, 5, -2}}, {{2, 1, -1}, {4, -1, -2}}};
  EXPECT_EQ(compare(classifier(ProblemType::kMultiLabel), 3, texts).agreement, 0.5);
  const VerifyResult scores = compare(classifier(ProblemType::kRegression), 3, texts);
  EXPECT_EQ(scores.agreement, 1);
  EXPECT_EQ(scores.answers, 0u);
  EXPECT_EQ(scores.answer_kind, AnswerKind::kNone);
}

TEST(Comparison, ASingleLogitHasAnErrorAndNoCosine) {
  const VerifyResult result = compare(classifier(ProblemType::kRegression), 1, {{{0.1}, {-1}}});
  EXPECT_EQ(result.cosine_min, 1);
  EXPECT_DOUBLE_EQ(result.logit_error_max, 0.6);
}

// Logits of tokens with these tags.
Text tagged(std::size_t tags, const std::vector<std::size_t>& float_tags,
            const std::vector<std::size_t>& int8_tags) {
  Text text;
  for (std::size_t token = 0; token < float_tags.size(); ++token) {
    for (std::size_t tag = 0; tag < tags; ++tag) {
      text.floats.push_back(tag == float_tags[token] ? 5 : 1);
      text.ints.push_back(tag == int8_tags[token] ? 10 : 2);
    }
  }
  return text;
}

TEST(Comparison, Entities) {
  ModelConfig config;
  config.token_classifier = TokenTask::kTokenClassification;
  config.label_names = {"O", "B-a", "I-a", "B-b"};
  // Both find a from 0 to 1; float32 b at 3, which int8 takes for a.
  const VerifyResult kinds = compare(config, 4, {tagged(4, {1, 2, 0, 3}, {1, 2, 0, 1})});
  EXPECT_EQ(kinds.compared, Compared::kTokenLogits);
  EXPECT_EQ(kinds.answer_kind, AnswerKind::kEntity);
  EXPECT_EQ(kinds.answers, 3u);
  EXPECT_EQ(kinds.differing_answers, 2u);
  EXPECT_DOUBLE_EQ(kinds.agreement, 1.0 / 3);
  EXPECT_EQ(kinds.worst[0].margin, 4);
  EXPECT_EQ(kinds.worst[0].float_label, -1);
  // One token less of an entity is another entity.
  EXPECT_EQ(compare(config, 4, {tagged(4, {1, 2, 2}, {1, 2, 0})}).agreement, 0);
  // B-a and I-a both begin an entity.
  EXPECT_EQ(compare(config, 4, {tagged(4, {0, 1}, {0, 2})}).agreement, 1);
  const VerifyResult none = compare(config, 4, {tagged(4, {0, 0}, {0, 0})});
  EXPECT_EQ(none.answers, 0u);
  EXPECT_EQ(none.agreement, 1);
}

TEST(Comparison, SpecialTokensAreInNoEntity) {
  ModelConfig config;
  config.token_classifier = TokenTask::kTokenClassification;
  config.label_names = {"O", "B-a"};
  const Text text = tagged(2, {0, 1, 0}, {1, 1, 0});
  const std::vector<std::int32_t> ids = {101, 7, 102};
  Comparison all(config), words(config, {}, {101, 102});
  all.add(text.floats, text.ints, 2, kScale, ids);
  words.add(text.floats, text.ints, 2, kScale, ids);
  EXPECT_EQ(all.take({}).agreement, 0.5);
  const VerifyResult result = words.take({});
  EXPECT_EQ(result.agreement, 1);
  EXPECT_EQ(result.answers, 1u);
  EXPECT_EQ(result.worst[0].margin, 0);
}

TEST(Comparison, AnswerSpans) {
  ModelConfig config;
  config.token_classifier = TokenTask::kQuestionAnswering;
  // The largest start is behind the largest end, which is no answer: 2 to 2 has 3, 1 to 1 has 3.5.
  const Text same = {{0, 0, 0.5, 3, 2, 1}, {0, 0, 1, 6, 4, 2}};
  const VerifyResult result = compare(config, 2, {same});
  EXPECT_EQ(result.answer_kind, AnswerKind::kSpan);
  EXPECT_EQ(result.answers, 1u);
  EXPECT_EQ(result.agreement, 1);
  EXPECT_EQ(result.worst[0].margin, 0);
  const Text other = {{0, 0, 0.5, 3, 2, 1}, {0, 0, 1, 2, 4, 2}};  // int8 answers 2 to 2
  EXPECT_EQ(compare(config, 2, {same, other}).agreement, 0.5);
  EXPECT_EQ(compare(config, 2, {other}).worst[0].margin, 0.5);
  // An answer has at most 15 tokens: 0 to 14, although float32 likes token 15 as an end.
  Text wide = {std::vector<double>(32, 0), std::vector<std::int32_t>(32, 0)};
  wide.floats[0] = 9, wide.floats[29] = 1, wide.floats[31] = 9;
  wide.ints[0] = 9, wide.ints[29] = 1;
  EXPECT_EQ(compare(config, 2, {wide}).agreement, 1);
}

TEST(Comparison, FirstChoices) {
  ModelConfig config = classifier(ProblemType::kSingleLabel);
  config.classifier = ClassifierTask::kMultipleChoice;
  std::vector<Text> texts;
  for (const double score : {1, 2, 3, 4, 4, 3, 2, 1, 9, 9}) {
    texts.push_back({{score}, {static_cast<std::int32_t>(score)}});
  }
  EXPECT_EQ(compare(config, 1, texts).agreement, 1);
  texts[4].ints[0] = 1;  // of the second four float32 chooses the first, int8 the second
  const VerifyResult result = compare(config, 1, texts);
  EXPECT_EQ(result.answer_kind, AnswerKind::kChoice);
  EXPECT_EQ(result.answers, 2u) << "the last two texts are no four";
  EXPECT_EQ(result.agreement, 0.5);
  ModelConfig scores = classifier(ProblemType::kRegression);
  scores.label_names = {"score"};
  EXPECT_EQ(compare(scores, 1, texts).answers, 2u) << "a cross-encoder chooses, too";
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
