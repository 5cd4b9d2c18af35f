// SPDX-License-Identifier: Apache-2.0
// embert_hosted_run_task and embert_hosted_inspect: JSON in the order of the texts, options, and
// texts that lack what a task needs. What the JSON says is tested with the tool.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/targets/hosted/hosted_fixture.hpp"

namespace embert::test {
namespace {

using Json = nlohmann::ordered_json;

/// Takes the JSON of a call.
Json take_json(char* text) {
  Json json = text != nullptr ? Json::parse(text) : Json();
  embert_hosted_free(text);
  return json;
}

Json run_task(embert_hosted* model, const char* task, const embert_hosted_texts& texts,
              const char* options = nullptr) {
  char* json = nullptr;
  EXPECT_EQ(embert_hosted_run_task(model, task, &texts, options, &json), EMBERT_HOSTED_OK)
      << embert_hosted_error();
  return take_json(json);
}

void expect_refused(embert_hosted* model, const char* task, const char* options,
                    const std::string& part) {
  const Texts list({"a"});
  const embert_hosted_texts view = list.view();
  char* json = nullptr;
  EXPECT_EQ(embert_hosted_run_task(model, task, &view, options, &json), EMBERT_HOSTED_ARGUMENT);
  EXPECT_EQ(json, nullptr);
  EXPECT_NE(std::string(embert_hosted_error()).find(part), std::string::npos)
      << embert_hosted_error();
}

TEST(RunTask, EachTextGetsTheJsonThatItGetsAlone) {
  const ScratchFolder scratch;
  struct Case {
    const char* task;
    TaskModel model;
    const char* options;
    bool pairs = false;
  };
  const std::vector<Case> cases = {
      {"tokenize", classifier(3), nullptr},
      {"classify", classifier(3), R"({"top": 2})"},
      {"classify", classifier(3), nullptr, true},
      {"tag", token_classifier(3), R"({"window": 12, "stride": 3, "aggregation": "none"})"},
      {"fill-mask", masked_language_model(), R"({"top": 2, "targets": ["a", "hello"]})"},
      {"generate", decoder(), R"({"max-new-tokens": 4, "sample": true, "seed": 3})"},
      {"generate", encoder_decoder(), R"({"beams": 2, "max-new-tokens": 3})"}};
  for (const Case& one : cases) {
    SCOPED_TRACE(one.task);
    const std::string path = write_model(scratch, "m.emb", one.model);
    std::vector<std::string> texts, pairs;
    for (const std::string& text : random_texts(100, 5)) {
      texts.push_back(text.substr(0, 40) + " [MASK]");
      if (one.pairs) pairs.push_back("hello " + text.substr(0, 20));
    }
    const Texts list(texts, pairs);
    const ModelHandle alone = open_model(path), together = open_model(path, 2);
    const Json all = run_task(together.get(), one.task, list.view(), one.options);
    ASSERT_EQ(all.size(), texts.size());
    for (size_t i = 0; i < texts.size(); ++i) {
      const Texts single({texts[i]},
                         one.pairs ? std::vector{pairs[i]} : std::vector<std::string>{});
      EXPECT_EQ(run_task(alone.get(), one.task, single.view(), one.options)[0], all[i]) << i;
    }
  }
}

TEST(RunTask, Answers) {
  const ScratchFolder scratch;
  const ModelHandle model =
      open_model(write_model(scratch, "m.emb", token_classifier(2, kTaskAnswer)), 2);
  const Texts list({"a b", "hello"}, {"hello world a b c", "times a b"});
  const Json answers = run_task(model.get(), "answer", list.view(),
                                R"({"top": 2, "max-answer-tokens": 3, "allow-no-answer": true})");
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0]["question"], "a b");
  EXPECT_EQ(answers[1]["answers"].size(), 2u);
  const Texts empty({"a", "b"}, {"hello", ""});
  const embert_hosted_texts view = empty.view();
  char* json = nullptr;
  EXPECT_EQ(embert_hosted_run_task(model.get(), "answer", &view, nullptr, &json),
            EMBERT_HOSTED_TEXT);
  EXPECT_STREQ(embert_hosted_error(), "text 1: the context is empty (EMBERT_STATUS_EMPTY_INPUT)");
  expect_refused(model.get(), "answer", nullptr, "answer takes pairs of texts");
}

TEST(RunTask, TheFirstTextThatFailsIsNamed) {
  const ScratchFolder scratch;
  const ModelHandle model = open_model(write_model(scratch, "m.emb", masked_language_model()), 2);
  std::vector<std::string> texts(200, "a [MASK]");
  texts[57] = texts[58] = texts[190] = "no mask";
  const Texts list(texts);
  const embert_hosted_texts view = list.view();
  char* json = nullptr;
  EXPECT_EQ(embert_hosted_run_task(model.get(), "fill-mask", &view, nullptr, &json),
            EMBERT_HOSTED_TEXT);
  EXPECT_EQ(json, nullptr);
  EXPECT_EQ(std::string(embert_hosted_error()).find("text 57: no mask token [MASK] in the first"),
            0u)
      << embert_hosted_error();
}

TEST(RunTask, OptionsThatAreWrong) {
  const ScratchFolder scratch;
  const ModelHandle model = open_model(write_model(scratch, "m.emb", classifier(3)));
  expect_refused(model.get(), "embed", nullptr,
                 "unknown task \"embed\"; there are tokenize, classify, tag, answer, fill-mask");
  expect_refused(model.get(), "classify", "[]", "classify: options is no JSON object");
  const std::string deep = "{\"top\": " + std::string(100000, '[') + std::string(100000, ']') + "}";
  expect_refused(model.get(), "classify", deep.c_str(), "of at most 64 levels");
  expect_refused(model.get(), "classify", R"({"Top": 1})",
                 "classify: unknown option \"Top\"; there are function, top");
  expect_refused(model.get(), "tokenize", R"({"top": 1})",
                 "tokenize: unknown option \"top\"; it takes none");
  expect_refused(model.get(), "classify", R"({"top": 0})",
                 "classify: top is 0; it takes a whole number from 1 to 4096");
  expect_refused(model.get(), "classify", R"({"top": "1"})", "top is \"1\"; it takes a whole");
  expect_refused(model.get(), "classify", R"({"function": 1})", "function is 1; it takes a text");
  expect_refused(model.get(), "classify", R"({"function": "tanh"})", "there are softmax");
  expect_refused(model.get(), "tag", nullptr, "EMBERT_STATUS_NO_TOKEN_CLASSIFIER");
  const ModelHandle tagger = open_model(write_model(scratch, "t.emb", token_classifier(3)));
  expect_refused(tagger.get(), "tag", R"({"aggregation": "all"})", "aggregation \"all\"");
  expect_refused(tagger.get(), "tag", R"({"window": 33})", "32 positions, not 33");
  const Texts pairs({"a b"}, {"hello world"});
  const embert_hosted_texts view = pairs.view();
  char* json = nullptr;
  EXPECT_EQ(embert_hosted_run_task(tagger.get(), "tag", &view, nullptr, &json),
            EMBERT_HOSTED_ARGUMENT);
  EXPECT_NE(std::string(embert_hosted_error()).find("tag takes single texts"), std::string::npos);
  const ModelHandle masked = open_model(write_model(scratch, "f.emb", masked_language_model()));
  expect_refused(masked.get(), "fill-mask", R"({"targets": [1]})", "it takes an array of texts");
  const ModelHandle writer = open_model(write_model(scratch, "g.emb", decoder()));
  expect_refused(writer.get(), "generate", R"({"sample": 1})", "it takes true or false");
  expect_refused(writer.get(), "generate", R"({"top-p": 1.5})", "top-p 1.5");
  expect_refused(writer.get(), "generate", R"({"temperature": "hot"})", "it takes a number");
  expect_refused(writer.get(), "generate", R"({"sample": true, "beams": 2})", "exclude each other");
}

TEST(RunTask, InspectShowsTheModel) {
  const ScratchFolder scratch;
  const ModelHandle model = open_model(write_model(scratch, "m.emb", classifier(3)));
  char* text = nullptr;
  ASSERT_EQ(embert_hosted_inspect(model.get(), &text), EMBERT_HOSTED_OK);
  const Json json = take_json(text);
  EXPECT_EQ(json["header"]["labels"], 3);
  EXPECT_EQ(json["tasks"][0], "embed");
}

// JSON that is nested so deep that a reader which calls itself for each level has no stack left.
TEST(RunTask, InspectShowsADeepCertificateAsText) {
  const ScratchFolder scratch;
  TaskModel hostile = classifier(3);
  hostile.shape.certificate = std::string(100000, '[') + std::string(100000, ']');
  const ModelHandle model = open_model(write_model(scratch, "m.emb", hostile));
  char* text = nullptr;
  ASSERT_EQ(embert_hosted_inspect(model.get(), &text), EMBERT_HOSTED_OK);
  EXPECT_EQ(take_json(text)["certificate"], hostile.shape.certificate);
}

}  // namespace
}  // namespace embert::test
