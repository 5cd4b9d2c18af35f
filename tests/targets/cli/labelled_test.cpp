// SPDX-License-Identifier: Apache-2.0
// verify --labelled, threshold and classify --threshold: is a model good enough for a task?
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/model_folder.hpp"
#include "tests/targets/cli/tool_runner.hpp"

namespace embert::test {
namespace {

using Json = nlohmann::ordered_json;

/// Every `step`-th CLINC150 test text with its label, behind a tab; maybe those out of scope, too.
std::string clinc_texts(size_t step, bool with_unknown) {
  std::istringstream rows(
      read_bytes(std::string(EMBERT_SOURCE_DIR) + "/tests/data/tiny-intent/test.tsv"));
  std::string row, texts;
  std::getline(rows, row);  // names of the columns
  for (size_t number = 0; std::getline(rows, row); ++number) {
    const size_t text = row.find('\t') + 1, label = row.find('\t', text) + 1;
    const std::string name = row.substr(label, row.find('\t', label) - label);
    if (number % step != 0 || (name == "oos" && !with_unknown)) continue;
    texts += row.substr(text, label - text) + name + "\n";
  }
  return texts;
}

ToolResult verify(std::vector<std::string> more, const std::string& input = "") {
  std::vector<std::string> arguments = {"verify", kBundledModel, kBundledFolder};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_tool(arguments, input);
}

Json json_of(const ToolResult& result) {
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return Json::parse(result.out, nullptr, false);
}

TEST(VerifyLabelled, CountsWhatClassifyAnswers) {
  const ScratchFolder scratch;
  const std::string texts = clinc_texts(10, false);
  const std::string file = scratch.write("test.tsv", texts);
  const Json json = json_of(verify({"--labelled", file, "--json", "--max-loss", "0.05"}));
  EXPECT_EQ(json["texts"], 450);
  // The same count from the answers of classify.
  std::string plain;
  std::vector<std::string> labels;
  std::istringstream lines(texts);
  for (std::string line; std::getline(lines, line);) {
    plain += line.substr(0, line.find('\t')) + "\n";
    labels.push_back(line.substr(line.find('\t') + 1));
  }
  size_t right = 0;
  const ToolResult answers = run_tool({"classify", kBundledModel, "--json", "--top", "1"}, plain);
  for (size_t i = 0; i < labels.size(); ++i) {
    right += Json::parse(answers.lines().at(i))["label"] == labels[i] ? 1u : 0u;
  }
  const double count = static_cast<double>(labels.size());
  EXPECT_DOUBLE_EQ(json["accuracy"]["int8"], static_cast<double>(right) / count);
  EXPECT_NEAR(json["accuracy"]["float32"], 0.94, 0.03);
  EXPECT_NEAR(json["loss"].get<double>(),
              json["accuracy"]["float32"].get<double>() - json["accuracy"]["int8"].get<double>(),
              1e-12);
  EXPECT_LE(json["loss_interval"][0], json["loss"]);
  EXPECT_GE(json["loss_interval"][1], json["loss"]);
  EXPECT_LT(json["loss_interval"][0], json["loss_interval"][1]) << "never without a width";
  EXPECT_EQ(json["verdict"], "pass");
  for (const Json& text : json["differing"]) EXPECT_NE(text["float32"], text["int8"]);
  // From stdin, and as lines.
  const ToolResult from_stdin = verify({"--labelled", "-"}, texts);
  EXPECT_EQ(from_stdin.exit_code, 0) << from_stdin.err;
  EXPECT_NE(from_stdin.out.find("\naccuracy     float32 "), std::string::npos) << from_stdin.out;
  EXPECT_EQ(from_stdin.out.find("verdict"), std::string::npos) << "only with --max-loss";
}

// Shows 2: the same accuracy as tests/accuracy, which reads what float32 says from test.tsv.
TEST(VerifyLabelled, HasTheAccuracyOfAllClincTexts) {
  const ScratchFolder scratch;
  std::istringstream rows(
      read_bytes(std::string(EMBERT_SOURCE_DIR) + "/tests/data/tiny-intent/test.tsv"));
  std::string row;
  std::getline(rows, row);  // names of the columns
  size_t texts = 0, right = 0;
  while (std::getline(rows, row)) {
    std::istringstream columns(row);
    std::string id, text, label, predicted;
    std::getline(columns, id, '\t');
    std::getline(columns, text, '\t');
    std::getline(columns, label, '\t');
    std::getline(columns, predicted, '\t');
    if (label == "oos") continue;
    ++texts;
    right += label == predicted ? 1u : 0u;
  }
  const Json json = json_of(verify({"--labelled", scratch.write("test.tsv", clinc_texts(1, false)),
                                    "--json", "--max-loss", "0.005", "--threads", "0"}));
  EXPECT_EQ(json["texts"], texts);
  EXPECT_DOUBLE_EQ(json["accuracy"]["float32"],
                   static_cast<double>(right) / static_cast<double>(texts));
  EXPECT_EQ(json["verdict"], "pass");
  std::printf("%zu texts: float32 %.4f, int8 %.4f, loss %.4f (%.4f to %.4f), %zu differ\n", texts,
              json["accuracy"]["float32"].get<double>(), json["accuracy"]["int8"].get<double>(),
              json["loss"].get<double>(), json["loss_interval"][0].get<double>(),
              json["loss_interval"][1].get<double>(), json["differing"].size());
}

TEST(VerifyLabelled, ADamagedModelFails) {
  const ScratchFolder scratch;
  const TempFolder damaged;
  std::filesystem::copy(
      kBundledFolder, damaged.path(),
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
  std::string weights = read_bytes(kBundledFolder + "/model.safetensors");
  // A tenth of the weights, in the middle of the file, is turned around.
  const size_t begin = weights.size() / 2 / 4 * 4, end = begin + weights.size() / 40 * 4;
  std::reverse(weights.begin() + static_cast<std::ptrdiff_t>(begin),
               weights.begin() + static_cast<std::ptrdiff_t>(end));
  for (size_t i = begin; i < end; i += 4) {  // of each value the bytes in their order
    std::reverse(weights.begin() + static_cast<std::ptrdiff_t>(i),
                 weights.begin() + static_cast<std::ptrdiff_t>(i + 4));
  }
  std::filesystem::remove(damaged.path() / "model.safetensors");
  std::ofstream(damaged.path() / "model.safetensors", std::ios::binary) << weights;
  const std::string model = scratch.path("damaged.emb");
  const ToolResult converted = run_tool({"convert", damaged.path().string(), "-o", model});
  ASSERT_EQ(converted.exit_code, 0) << converted.err;
  const std::string file = scratch.write("test.tsv", clinc_texts(10, false));
  const ToolResult result =
      run_tool({"verify", model, kBundledFolder, "--labelled", file, "--max-loss", "0.01"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.out.find("\nverdict      fail: at most 0.0100 may be lost\n"), std::string::npos)
      << result.out;
  EXPECT_NE(result.err.find("more than --max-loss 0.0100"), std::string::npos) << result.err;
  // A verdict that fails keeps the results: --output writes those that stdout shows.
  const std::string results = scratch.write("results.txt", "those of another run");
  EXPECT_EQ(run_tool({"verify", model, kBundledFolder, "--labelled", file, "--max-loss", "0.01",
                      "-o", results})
                .exit_code,
            2);
  EXPECT_EQ(read_bytes(results), result.out);
}

TEST(VerifyLabelled, CorrelatesVectorsWithScores) {
  const ScratchFolder scratch;
  const TempFolder folder;
  ModelOptions options;
  options.tokenizer = true;
  write_model_folder(folder.path(), options);
  const std::string model = scratch.path("m.emb");
  ASSERT_EQ(run_tool({"convert", folder.path().string(), "-o", model}).exit_code, 0);
  // The tool's own cosines stand for what people say: int8 then ranks them without error.
  std::string pairs, scored;
  for (int i = 0; i < 40; ++i) {
    std::string a, b;
    for (int word = 0; word < 5; ++word) {
      a += std::string(1, static_cast<char>('a' + (i * 7 + word * 3) % 26)) + " ";
      b += std::string(1, static_cast<char>('a' + (i * 5 + word * 11) % 26)) + " ";
    }
    pairs += a + "\t" + b + "\n";
  }
  const ToolResult cosines = run_tool({"similarity", model, "--json"}, pairs);
  for (const std::string& line : cosines.lines()) {
    const Json pair = Json::parse(line);
    scored += pair["text"].get<std::string>() + "\t" + pair["pair"].get<std::string>() + "\t" +
              pair["cosine"].dump() + "\n";
  }
  const std::string file = scratch.write("pairs.tsv", scored);
  const std::vector<std::string> call = {"verify", model, folder.path().string(), "--labelled"};
  std::vector<std::string> good = call;
  good.insert(good.end(), {file, "--json", "--max-loss", "0.5"});
  const Json json = json_of(run_tool(good));
  EXPECT_GT(json["spearman"]["int8"], 0.9999);
  EXPECT_GT(json["spearman"]["float32"], 0.9);
  EXPECT_EQ(json["verdict"], "pass");
  const auto refused = [&](const std::string& lines, const std::string& part) {
    std::vector<std::string> bad = call;
    bad.push_back(scratch.write("bad.tsv", lines));
    expect_refused(run_tool(bad), 2, part);
  };
  refused("a\tb\t1\na\tb\n", "line 2: expected text, a tab, its pair, a tab and a label");
  refused("a\tb\t1\na\tb\tgood\n", "line 2: expected a score in the last column, found \"good\"");
  refused("a\tb\t1\na\tc\t1\n", "all lines have the label \"1\"");
}

TEST(VerifyLabelled, RefusesBadInput) {
  const ScratchFolder scratch;
  const std::string good = scratch.write("good", "set a timer\ttimer\nhello\tgreeting\n");
  expect_refused(verify({"--labelled", scratch.write("empty", "")}), 2, "has no text");
  expect_refused(verify({"--labelled", scratch.write("bad", "a\ttimer\na\tno such\n")}), 2,
                 "bad: line 2: the model has no label \"no such\"");
  expect_refused(verify({"--labelled", scratch.path("none")}), 2, "none: cannot be opened");
  for (const std::string loss : {"-0.1", "1.5", "nan", "much"}) {
    EXPECT_EQ(verify({"--labelled", good, "--max-loss", loss}).exit_code, 1) << loss;
  }
  EXPECT_EQ(verify({"--texts", good, "--max-loss", "0.1"}).exit_code, 1);
  EXPECT_EQ(verify({"--texts", good, "--labelled", good}).exit_code, 1);
}

TEST(Threshold, IsWhatClassifyDoesWithIt) {
  const ScratchFolder scratch;
  const std::string texts = clinc_texts(5, true);
  const std::string file = scratch.write("texts.tsv", texts);
  const Json json = json_of(
      run_tool({"threshold", kBundledModel, "--labelled", file, "--max-error", "0.08", "--json"}));
  EXPECT_EQ(json["texts"], 1100);
  EXPECT_EQ(json["unknown"], 200);
  EXPECT_LE(json["error"], 0.08);
  EXPECT_GT(json["coverage"], 0.5);
  EXPECT_EQ(json["curve"].size(), 21u);
  EXPECT_EQ(json["curve"][20]["threshold"], 1);
  double coverage = 1;
  for (const Json& point : json["curve"]) {
    EXPECT_LE(point["coverage"], coverage);
    coverage = point["coverage"];
  }
  // One thousandth less has a larger error, or it would have been chosen.
  const double threshold = json["threshold"];
  std::ostringstream lower, chosen;
  lower << threshold - 0.001;
  chosen << threshold;
  const Json below = json_of(run_tool(
      {"threshold", kBundledModel, "--labelled", file, "--threshold", lower.str(), "--json"}));
  EXPECT_GT(below["error"], 0.08);

  std::string plain;
  std::vector<std::string> labels;
  std::istringstream lines(texts);
  for (std::string line; std::getline(lines, line);) {
    plain += line.substr(0, line.find('\t')) + "\n";
    labels.push_back(line.substr(line.find('\t') + 1));
  }
  const ToolResult answers =
      run_tool({"classify", kBundledModel, "--json", "--threshold", chosen.str()}, plain);
  size_t answered = 0, right = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    const Json answer = Json::parse(answers.lines().at(i));
    EXPECT_EQ(answer["scores"].size(), 151u);
    if (answer["label"] == "oos") continue;
    ++answered;
    right += answer["label"] == labels[i] ? 1u : 0u;
    EXPECT_GE(answer["score"], threshold);
  }
  const double count = static_cast<double>(labels.size());
  EXPECT_DOUBLE_EQ(json["coverage"], static_cast<double>(answered) / count);
  EXPECT_DOUBLE_EQ(json["error"], 1 - static_cast<double>(right) / static_cast<double>(answered));

  const Json best = json_of(run_tool({"threshold", kBundledModel, "--labelled", file, "--json"}));
  for (const Json& point : best["curve"]) EXPECT_GE(best["accuracy"], point["accuracy"]);
  const ToolResult shown = run_tool({"threshold", kBundledModel, "--labelled", "-"}, texts);
  EXPECT_NE(shown.out.find("  <- chosen\n"), std::string::npos);
}

TEST(Threshold, OfClassify) {
  const ToolResult plain = run_tool({"classify", kBundledModel, "--threshold", "1", "--top", "3",
                                     "--reject-label", "?", "set a timer"});
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_EQ(plain.out.substr(6), "\t?\tset a timer\n") << "one column: the rejected text's";
  EXPECT_EQ(run_tool({"classify", kBundledModel, "--threshold", "0", "set a timer"}).out,
            run_tool({"classify", kBundledModel, "set a timer"}).out);
  expect_refused(run_tool({"classify", kBundledModel, "--threshold", "0.5", "--function", "none",
                           "set a timer"}),
                 1, "threshold: scores are probabilities with softmax and sigmoid only");
  for (const std::string threshold : {"-1", "1.01", "nan", "half"}) {
    EXPECT_EQ(run_tool({"classify", kBundledModel, "--threshold", threshold, "a"}).exit_code, 1);
  }
}

TEST(Threshold, RefusesBadInput) {
  const ScratchFolder scratch;
  const auto with = [&](const std::string& lines, std::vector<std::string> more) {
    std::vector<std::string> arguments = {"threshold", kBundledModel, "--labelled",
                                          scratch.write("texts", lines)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_tool(arguments);
  };
  expect_refused(with("", {}), 2, "has no text");
  expect_refused(with("a\ttimer\nb\ttimer\n", {}), 2, "all lines have the label \"timer\"");
  expect_refused(with("a\ttimer\nb\tnothing\n", {}), 2,
                 "line 2: the model has no label \"nothing\"");
  EXPECT_EQ(with("set a timer\ttimer\nb\tnothing\n", {"--reject-label", "nothing"}).exit_code, 0);
  expect_refused(with("a\ttimer\nb\tgreeting\n", {"--max-error", "0", "--quiet"}), 2,
                 "no threshold that answers a text has an error of 0.0000 or less");
  EXPECT_EQ(with("a\ttimer\nb\toos\n", {"--max-error", "2"}).exit_code, 1);
  EXPECT_EQ(with("a\ttimer\nb\toos\n", {"--max-error", "0", "--threshold", "1"}).exit_code, 1);
  const ToolResult none = with("set a timer\ttimer\nhello\tgreeting\n", {});
  EXPECT_NE(none.err.find("no text has the label \"oos\""), std::string::npos) << none.err;
}

// Shows 3: chosen on the validation split, held to its error on the test split.
TEST(Threshold, HoldsOnClincsTestSplit) {
  const std::string path = EMBERT_SHARED_DIR "/data/intent/clinc150/data_full.json";
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << "NOT TESTED: no CLINC150 validation split at " << path;
  }
  const Json splits = Json::parse(read_bytes(path));
  const ScratchFolder scratch;
  const auto file_of = [&](const std::string& split) {
    std::string texts;
    for (const std::string& name : {split, "oos_" + split}) {
      for (const Json& entry : splits[name]) {
        texts += entry[0].get<std::string>() + "\t" + entry[1].get<std::string>() + "\n";
      }
    }
    return scratch.write(split + ".tsv", texts);
  };
  const Json chosen = json_of(run_tool({"threshold", kBundledModel, "--labelled", file_of("val"),
                                        "--max-error", "0.05", "--json", "--threads", "0"}));
  std::ostringstream threshold;
  threshold << chosen["threshold"].get<double>();
  const Json test = json_of(run_tool({"threshold", kBundledModel, "--labelled", file_of("test"),
                                      "--threshold", threshold.str(), "--json", "--threads", "0"}));
  std::printf(
      "threshold %s: validation coverage %.4f, error %.4f; test coverage %.4f, error %.4f, "
      "known %.4f and unknown %.4f answered\n",
      threshold.str().c_str(), chosen["coverage"].get<double>(), chosen["error"].get<double>(),
      test["coverage"].get<double>(), test["error"].get<double>(),
      test["known_answered"].get<double>(), test["unknown_answered"].get<double>());
  // The test split has 18 % of unknown texts, the validation split 3 %: the error depends on that,
  // the share of each kind that is answered does not.
  EXPECT_NEAR(test["known_answered"].get<double>(), chosen["known_answered"].get<double>(), 0.02);
  EXPECT_NEAR(test["unknown_answered"].get<double>(), chosen["unknown_answered"].get<double>(),
              0.15);
  EXPECT_LT(test["unknown_answered"], 0.5);
  EXPECT_GT(test["known_answered"], 0.85);
}

}  // namespace
}  // namespace embert::test
