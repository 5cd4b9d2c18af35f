// SPDX-License-Identifier: Apache-2.0
// --on-long windows: a long text has the mean of what its parts have when they are given alone.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tests/support/model_folder.hpp"
#include "tests/targets/cli/tool_runner.hpp"

namespace embert::test {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kWords = 62;  // of 64 tokens: [CLS] and [SEP] take two

/// `count` words of one token each, other ones for each `first`.
std::string words(size_t first, size_t count) {
  std::string text;
  for (size_t i = first; i < first + count; ++i) {
    text += (text.empty() ? "" : " ") + std::string(1, static_cast<char>('a' + i * i % 26));
  }
  return text;
}

/// A text of 150 words and the parts of it that a window has.
const std::string kLong = words(0, 150);
const std::vector<std::string> kParts = {words(0, kWords), words(kWords, kWords),
                                         words(2 * kWords, 150 - 2 * kWords)};
constexpr double kWeights[] = {62.0 / 150, 62.0 / 150, 26.0 / 150};

std::vector<Json> run_json(std::vector<std::string> arguments, const std::string& input) {
  arguments.emplace_back("--json");
  const ToolResult result = run_tool(arguments, input);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "") << "nothing was cut";
  std::vector<Json> lines;
  for (const std::string& line : result.lines()) lines.push_back(Json::parse(line));
  return lines;
}

std::string lines_of(const std::vector<std::string>& texts) {
  std::string input;
  for (const std::string& text : texts) input += text + "\n";
  return input;
}

std::vector<double> mean_of(const std::vector<Json>& parts, const std::string& key) {
  std::vector<double> mean(parts.at(0)[key].size());
  for (size_t i = 0; i < parts.size(); ++i) {
    for (size_t k = 0; k < mean.size(); ++k) {
      mean[k] += kWeights[i] * parts[i][key][k].get<double>();
    }
  }
  return mean;
}

void expect_vector(const Json& found, std::vector<double> expected, bool normalized) {
  if (normalized) {
    const double length =
        std::sqrt(std::inner_product(expected.begin(), expected.end(), expected.begin(), 0.0));
    for (double& value : expected) value /= length;
  }
  ASSERT_EQ(found["embedding"].size(), expected.size());
  for (size_t k = 0; k < expected.size(); ++k) {
    EXPECT_NEAR(found["embedding"][k].get<double>(), expected[k], 2e-4) << k;
  }
}

TEST(OnLongWindows, VectorIsTheMeanOfTheParts) {
  const std::vector<std::string> call = {"embed", kBundledModel};
  const std::vector<Json> both =
      run_json({"embed", kBundledModel, "--on-long", "windows"}, kLong + "\nset a timer\n");
  EXPECT_EQ(both[0]["windows"], 3);
  EXPECT_EQ(both[0]["tokens"], 152);
  EXPECT_FALSE(both[0].contains("truncated"));
  EXPECT_EQ(both[1], run_json(call, "set a timer\n")[0]) << "short texts are as they are";
  expect_vector(both[0], mean_of(run_json(call, lines_of(kParts)), "embedding"), true);
  const Json cls = run_json({"embed", kBundledModel, "--on-long", "windows", "--pooling", "cls"},
                            kLong + "\n")[0];
  expect_vector(cls,
                mean_of(run_json({"embed", kBundledModel, "--pooling", "cls"}, lines_of(kParts)),
                        "embedding"),
                true);
  EXPECT_GT(run_json({"similarity", kBundledModel, "--on-long", "windows"},
                     kLong + "\t" + kLong + "\n")[0]["cosine"],
            0.99999);
}

TEST(OnLongWindows, ThePromptStandsBeforeEachPart) {
  const std::string module = R"("type": "sentence_transformers.models.)";
  for (const bool normalized : {true, false}) {
    const ScratchFolder scratch;
    const TempFolder folder;
    ModelOptions options;  // 32 positions
    options.tokenizer = true;
    write_model_folder(folder.path(), options);
    folder.write("modules.json",
                 R"([{"idx": 0, "name": "0", "path": "", )" + module +
                     R"(Transformer"}, {"idx": 1, "name": "1", "path": "1_Pooling", )" + module +
                     R"(Pooling"})" +
                     (normalized ? R"(, {"idx": 2, "name": "2", "path": "2_Normalize", )" + module +
                                       R"(Normalize"}])"
                                 : "]"));
    folder.write("1_Pooling/config.json",
                 R"({"word_embedding_dimension": 32, "pooling_mode_mean_tokens": true})");
    folder.write("config_sentence_transformers.json",
                 R"({"prompts": {"query": "a b c: "}, "default_prompt_name": "query"})");
    const std::string model = scratch.path("m.emb");
    const ToolResult converted = run_tool({"convert", folder.path().string(), "-o", model});
    ASSERT_EQ(converted.exit_code, 0) << converted.err;
    // [CLS], [SEP] and four tokens of the prompt leave 26 of 32.
    const std::vector<Json> parts =
        run_json({"embed", model}, words(0, 26) + "\n" + words(26, 13) + "\n");
    EXPECT_EQ(parts[0]["tokens"], 32);
    const Json whole = run_json({"embed", model, "--on-long", "windows"}, words(0, 39) + "\n")[0];
    EXPECT_EQ(whole["windows"], 2);
    EXPECT_EQ(whole["tokens"], 45);
    std::vector<double> mean;
    for (size_t k = 0; k < parts[0]["embedding"].size(); ++k) {
      mean.push_back(
          (2 * parts[0]["embedding"][k].get<double>() + parts[1]["embedding"][k].get<double>()) /
          3);
    }
    expect_vector(whole, mean, normalized);
  }
}

TEST(OnLongWindows, ScoresAreTheMeanOfTheParts) {
  const auto scores_of = [](const Json& answer) {
    std::vector<double> scores(151);
    for (const Json& entry : answer["scores"]) {
      static const Json labels =
          Json::parse(read_bytes(kBundledFolder + "/config.json"))["label2id"];
      scores[labels[entry["label"].get<std::string>()].get<size_t>()] = entry["score"];
    }
    return scores;
  };
  const Json whole = run_json({"classify", kBundledModel, "--on-long", "windows"}, kLong + "\n")[0];
  EXPECT_EQ(whole["windows"], 3);
  EXPECT_EQ(whole["tokens"], 152);
  EXPECT_EQ(whole["label"], whole["scores"][0]["label"]);
  std::vector<double> mean(151);
  size_t part = 0;
  for (const Json& answer : run_json({"classify", kBundledModel}, lines_of(kParts))) {
    const std::vector<double> scores = scores_of(answer);
    for (size_t k = 0; k < mean.size(); ++k) mean[k] += kWeights[part] * scores[k];
    ++part;
  }
  const std::vector<double> found = scores_of(whole);
  for (size_t k = 0; k < mean.size(); ++k) EXPECT_NEAR(found[k], mean[k], 1e-12) << k;
  for (size_t i = 1; i < 151; ++i) {
    EXPECT_LE(whole["scores"][i]["score"], whole["scores"][i - 1]["score"]);
  }
  // As a line, with the other options.
  const ToolResult line = run_tool({"classify", kBundledModel, "--on-long", "windows", "--top", "2",
                                    "--threshold", "1", "--reject-label", "?"},
                                   kLong + "\n");
  EXPECT_EQ(line.out.substr(6), "\t?\t" + kLong + "\n") << line.err;
  // Of a pair the second text is split.
  const Json pair = run_json({"classify", kBundledModel, "--pairs", "--on-long", "windows"},
                             "a b\t" + kLong + "\n")[0];
  EXPECT_EQ(pair["windows"], 3);
  EXPECT_EQ(pair["pair"], kLong);
}

TEST(OnLongWindows, Refusals) {
  const ToolResult pair =
      run_tool({"classify", kBundledModel, "--pairs", "--json", "--on-long", "windows"},
               "a\tb\n" + kLong + "\tb\n");
  EXPECT_EQ(pair.exit_code, 2);
  EXPECT_EQ(pair.lines().size(), 1u) << "the line before has its result";
  EXPECT_NE(pair.err.find("stdin line 2: the 153 tokens around the text leave it no room in 64"),
            std::string::npos)
      << pair.err;
  for (const std::string command : {"rerank", "tokenize", "fill-mask", "choose", "next-sentence"}) {
    const ToolResult result = run_tool({command, kBundledModel, "--on-long", "windows", "a"});
    EXPECT_EQ(result.exit_code, 1) << command;
    EXPECT_NE(result.err.find("--on-long: windows not in {cut,error}"), std::string::npos)
        << result.err;
  }
}

}  // namespace
}  // namespace embert::test
