// SPDX-License-Identifier: Apache-2.0
// The prompts of a model: inspect shows them, embed and similarity put them before texts.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/task_models.hpp"
#include "tests/targets/cli/tool_runner.hpp"

namespace embert::test {
namespace {

using Json = nlohmann::ordered_json;
using namespace std::string_literals;

class PromptOption : public testing::Test {
 protected:
  PromptOption() {
    TaskModel model = classifier(2);
    plain_ = write_model(scratch_, "plain.emb", model);
    model.shape.optional = {prompts_section(3, 2, "document\0\0passage\0a b \0query\0hello \0"s)};
    prompted_ = write_model(scratch_, "prompted.emb", model);
    model.shape.optional[0] = prompts_section(1, UINT32_MAX, "query\0hello \0"s);
    no_default_ = write_model(scratch_, "no_default.emb", model);
  }
  static Json embedded(const std::string& model, const std::string& text,
                       const std::vector<std::string>& options = {}) {
    std::vector<std::string> arguments = {"embed", model, "--json", text};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const ToolResult result = run_tool(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return Json::parse(result.out);
  }

  ScratchFolder scratch_;
  std::string plain_, prompted_, no_default_;
};

TEST_F(PromptOption, GoesBeforeTheText) {
  const auto vector = [&](const std::string& text) { return embedded(plain_, text)["embedding"]; };
  const Json by_default = embedded(prompted_, "world");
  EXPECT_EQ(by_default["embedding"], vector("hello world"));
  EXPECT_EQ(by_default["text"], "world");
  EXPECT_EQ(by_default["tokens"], embedded(plain_, "hello world")["tokens"]);
  EXPECT_NE(vector("hello world"), vector("world"));
  const auto with = [&](const std::string& model, const std::string& name) {
    return embedded(model, "world", {"--prompt", name})["embedding"];
  };
  EXPECT_EQ(with(prompted_, "query"), vector("hello world"));
  EXPECT_EQ(with(prompted_, "passage"), vector("a b world"));
  EXPECT_EQ(with(prompted_, "document"), vector("world"));
  EXPECT_EQ(with(prompted_, ""), vector("world"));
  EXPECT_EQ(with(plain_, ""), vector("world"));
  EXPECT_EQ(embedded(no_default_, "world")["embedding"], vector("world"));
  EXPECT_EQ(with(no_default_, "query"), vector("hello world"));
}

TEST_F(PromptOption, GoesBeforeBothTextsOfAPair) {
  const auto cosine = [](const std::vector<std::string>& arguments) {
    return Json::parse(run_tool(arguments).out)["cosine"];
  };
  const Json expected = cosine({"similarity", plain_, "--json", "hello world", "hello b"});
  EXPECT_EQ(cosine({"similarity", prompted_, "--json", "world", "b"}), expected);
  EXPECT_EQ(cosine({"similarity", no_default_, "--json", "--prompt", "query", "world", "b"}),
            expected);
  EXPECT_EQ(cosine({"similarity", prompted_, "--json", "--prompt", "", "world", "b"}),
            cosine({"similarity", plain_, "--json", "world", "b"}));
}

TEST_F(PromptOption, UnknownNamesListTheKnown) {
  expect_refused(run_tool({"embed", prompted_, "--prompt", "Query", "world"}), 1,
                 "the model has no prompt \"Query\"; it has: document, passage, query");
  expect_refused(run_tool({"similarity", prompted_, "--prompt", "hello ", "world", "b"}), 1,
                 "the model has no prompt \"hello \"; it has: document, passage, query");
  expect_refused(run_tool({"embed", plain_, "--prompt", "query", "world"}), 1,
                 "the model has no prompt \"query\"; it carries none");
}

TEST_F(PromptOption, InspectShowsThem) {
  const auto inspected = [](const std::string& model) {
    return Json::parse(run_tool({"inspect", model, "--json"}).out);
  };
  const Json shown = inspected(prompted_);
  EXPECT_EQ(shown["prompts"], Json({{"document", ""}, {"passage", "a b "}, {"query", "hello "}}));
  EXPECT_EQ(shown["default_prompt_name"], "query");
  EXPECT_TRUE(inspected(no_default_)["default_prompt_name"].is_null());
  const std::string text = run_tool({"inspect", prompted_}).out;
  EXPECT_NE(text.find("prompts      document \"\", passage \"a b \", query \"hello \" (default)\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(run_tool({"inspect", plain_}).out.find("prompts"), std::string::npos);
}

}  // namespace
}  // namespace embert::test
