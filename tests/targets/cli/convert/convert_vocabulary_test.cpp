// SPDX-License-Identifier: Apache-2.0
// The options that prune a vocabulary, through the tool: answers, summary, report, wrong calls.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/targets/cli/tool_runner.hpp"

namespace embert::test {
namespace {

ToolResult convert_with(const std::vector<std::string>& options) {
  std::vector<std::string> arguments = {"convert", kBundledFolder, "--rounding", "nearest"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return run_tool(arguments);
}

TEST(ConvertVocabulary, AnswersOfKeptTokensStay) {
  const ScratchFolder scratch;
  const std::string texts = scratch.write("texts", "what is the weather\n\nset a timer\n");
  const std::string whole = scratch.path("whole.emb"), pruned = scratch.path("pruned.emb");
  const std::string report = scratch.path("report.json");
  ASSERT_EQ(convert_with({"-o", whole}).exit_code, 0);
  const ToolResult result =
      convert_with({"-o", pruned, "--report", report, "--keep-vocabulary", texts, "--scripts",
                    "Latin,Common", "--vocabulary-size", "1000"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("  vocabulary: 1,000 of 6,656 tokens kept (15.0 %); with all of them "),
            std::string::npos)
      << result.out;
  EXPECT_NE(result.out.find("    of 64 held-out texts "), std::string::npos);
  const auto json = nlohmann::json::parse(read_bytes(report));
  const auto& vocabulary = json["certificate"]["vocabulary"];
  EXPECT_EQ(vocabulary["kept_tokens"], 1000);
  EXPECT_NEAR(json["blob_bytes"].get<double>() + vocabulary["saved_bytes"].get<double>(),
              static_cast<double>(read_bytes(whole).size()), 512);  // the certificate differs
  const auto classify = [](const std::string& model) {
    return run_tool({"classify", model, "--json", "what is the weather", "timer set!"}).out;
  };
  EXPECT_EQ(classify(whole), classify(pruned));
  const ToolResult verified = run_tool({"verify", pruned, kBundledFolder, "--texts", texts});
  EXPECT_EQ(verified.exit_code, 0);
  EXPECT_NE(verified.err.find("the model has a cut vocabulary"), std::string::npos) << verified.err;
  EXPECT_EQ(run_tool({"verify", whole, kBundledFolder, "--texts", texts}).err.find("vocabulary"),
            std::string::npos);
  EXPECT_NE(run_tool({"inspect", pruned}).out.find("kept tokens  1000 of 6656; of 64 texts "),
            std::string::npos);
}

TEST(ConvertVocabulary, WrongCallsLeaveTheOldFile) {
  const ScratchFolder scratch;
  const std::string model = scratch.write("model.emb", "old");
  const auto refused = [&](std::vector<std::string> options, int exit_code,
                           const std::string& part) {
    options.insert(options.begin(), {"-o", model});
    expect_refused(convert_with(options), exit_code, part);
    EXPECT_EQ(read_bytes(model), "old");
  };
  refused({"--scripts", "Latin,Elvish"}, 2, "\"Elvish\" is no script of Unicode; there are Adlam,");
  refused({"--scripts", "Gothic"}, 2, "the vocabulary has no token with a character of Gothic");
  refused({"--vocabulary-size", "40"}, 2, "--vocabulary-size 40: at least ");
  refused({"--vocabulary-size", "6657"}, 2, "the tokenizer has 6656 tokens; give no more");
  refused({"--keep-vocabulary", scratch.path("none")}, 2, "none: cannot be opened: No such file");
  refused({"--keep-vocabulary", scratch.write("blank", "\n \n")}, 2, "blank: no text");
  refused({"--keep-vocabulary", model}, 1, "is the file of --keep-vocabulary");
}

}  // namespace
}  // namespace embert::test
