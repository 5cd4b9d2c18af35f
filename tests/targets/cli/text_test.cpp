// SPDX-License-Identifier: Apache-2.0
// tokenize, embed and classify on the bundled model: keys, texts from arguments and from stdin, any
// bytes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "embert/embert_inspect.h"
#include "tests/support/synthetic_blob.hpp"
#include "tests/targets/cli/tool_runner.hpp"

namespace embert::test {
namespace {

using Json = nlohmann::ordered_json;

/// Runs the tool and returns the JSON of each line.
Json json_of(const std::vector<std::string>& arguments, const std::string& input = "") {
  const ToolResult result = run_tool(arguments, input);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  Json lines = Json::array();
  for (const std::string& line : result.lines()) lines.push_back(Json::parse(line));
  return lines;
}

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& item : object.items()) keys.push_back(item.key());
  return keys;
}

TEST(Tokenize, HasTheKeysAndTheTokens) {
  const Json lines = json_of({"tokenize", kBundledModel, "--json", "set a timer"});
  ASSERT_EQ(lines.size(), 1u);
  const Json& line = lines[0];
  EXPECT_EQ(keys_of(line), (std::vector<std::string>{"text", "ids", "type_ids", "tokens",
                                                     "byte_offsets", "char_offsets", "word_ids"}));
  EXPECT_EQ(line["tokens"], Json({"[CLS]", "set", "a", "timer", "[SEP]"}));
  EXPECT_EQ(line["ids"][0], 2);
  EXPECT_EQ(line["ids"][4], 3);
  EXPECT_EQ(line["byte_offsets"], Json::parse("[[0,0],[0,3],[4,5],[6,11],[0,0]]"));
  EXPECT_EQ(line["word_ids"], Json::parse("[null,0,1,2,null]"));
}

TEST(Inspect, ShowsLabelsScriptsAndTheCertificate) {
  const std::string out = run_tool({"inspect", kBundledModel}).out;
  for (const std::string part :
       {"\ncan do       embed, similarity, classify\n", ", ... (151, all with --json)\n",
        "\nvectors      128 values, mean pooling, length 1\n",
        "\ntexts        at most 64 tokens of a text; wordpiece vocabulary of 6,656, Latin ",
        "\nexactness    on 64 texts that calibration did not use (built-in texts), the cosine to "
        "float32 is 0.999",
        " of 64 labels are the same\n", "\ncalibration  built-in text, 384 texts\n", " at 16, ",
        " at 64 tokens: bytes of RAM"}) {
    EXPECT_NE(out.find(part), std::string::npos) << part << "\n" << out;
  }
}

TEST(Tokenize, PairsAndUnicodeOffsets) {
  const Json pair =
      json_of({"tokenize", kBundledModel, "--json", "--pair", "ten minutes", "timer"})[0];
  EXPECT_EQ(pair["tokens"], Json({"[CLS]", "timer", "[SEP]", "ten", "minutes", "[SEP]"}));
  EXPECT_EQ(pair["type_ids"], Json({0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(pair["pair"], "ten minutes");
  const Json accents = json_of({"tokenize", kBundledModel, "--json", "\xC3\xA9t a"})[0];
  const size_t last = accents["tokens"].size() - 2;
  EXPECT_EQ(accents["byte_offsets"][last], Json({4, 5}));
  EXPECT_EQ(accents["char_offsets"][last], Json({3, 4}));
}

TEST(Texts, ArgumentsAndStdinGiveTheSame) {
  const std::vector<std::string> texts = {"freeze my account",
                                          "",
                                          "  what's the weather  ",
                                          "[MASK]",
                                          "[a, b]",
                                          "{}",
                                          "++",
                                          "--",
                                          "inspect",
                                          "\1mark",
                                          "-5 degrees",
                                          "--top"};
  std::vector<std::string> call = {"classify", kBundledModel, "--json", "--top", "1", "--"};
  call.insert(call.end(), texts.begin(), texts.end());
  std::string unix_lines, windows_lines;
  for (const std::string& text : texts) {
    unix_lines += text + "\n";
    windows_lines += text + "\r\n";
  }
  const ToolResult arguments = run_tool(call);
  EXPECT_EQ(arguments.exit_code, 0) << arguments.err;
  ASSERT_EQ(arguments.lines().size(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(Json::parse(arguments.lines()[i])["text"], texts[i]);
  }
  const std::vector<std::string> from_stdin = {"classify", kBundledModel, "--json", "--top", "1"};
  EXPECT_EQ(run_tool(from_stdin, unix_lines).out, arguments.out);
  EXPECT_EQ(run_tool(from_stdin, windows_lines).out, arguments.out);
  unix_lines.pop_back();  // the last line needs no end
  EXPECT_EQ(run_tool(from_stdin, unix_lines).out, arguments.out);
  EXPECT_EQ(run_tool(from_stdin, "").out, "");
}

TEST(Texts, AnEmptyLineAndAnyBytesGetAResult) {
  std::string input = "\n";
  for (int byte = 0; byte < 256; ++byte) {
    if (byte != '\n') input += static_cast<char>(byte);
  }
  input += "\n" + std::string(300000, 'a') + "\n";
  for (int word = 0; word < 500; ++word) input += "word ";
  const Json lines = json_of({"embed", kBundledModel, "--json"}, input);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0]["tokens"], 2);  // [CLS] [SEP]
  EXPECT_EQ(lines[2]["tokens"], 3);  // one word too long to be looked up
  EXPECT_EQ(lines[3]["tokens"], 64) << "cut at the model's length";
}

TEST(Texts, ADashIsStdinUnlessItComesBehindDashes) {
  EXPECT_EQ(json_of({"classify", kBundledModel, "--json", "-"}, "set a timer\n")[0]["text"],
            "set a timer");
  EXPECT_EQ(json_of({"classify", kBundledModel, "--json", "--", "-"})[0]["text"], "-");
  expect_refused(run_tool({"classify", kBundledModel, "a", "-"}), 1,
                 "\"-\" stands for the lines of stdin");
}

TEST(Texts, AClosedStdinIsNoEmptyOne) {
  ToolCall call = {{"embed", kBundledModel}, "", {}, {}};
  call.in_child = [] { close(STDIN_FILENO); };
  expect_refused(run_tool(call), 2, "stdin cannot be read");
}

TEST(Texts, ALineThatIsTooLongIsNamedAfterTheResultsBeforeIt) {
  const std::string input = "set a timer\n" + std::string(200, 'x') + "\nbook a flight\n";
  const ToolResult result = run_tool({"classify", kBundledModel, "--max-line-bytes", "199"}, input);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.lines().size(), 1u);
  EXPECT_EQ(result.err, "embert: stdin line 2: longer than 199 bytes (--max-line-bytes)\n");
  EXPECT_EQ(run_tool({"classify", kBundledModel, "--max-line-bytes", "200"}, input).lines().size(),
            3u);
  // Without a line end, at the default limit, which is all that is kept of the line.
  expect_refused(run_tool({"tokenize", kBundledModel}, std::string((16 << 20) + 1, 'x')), 2,
                 "stdin line 1: longer than 16777216 bytes");
}

TEST(Texts, OneRecordHoldsNoEndlessList) {
  std::string input;
  for (int i = 0; i < 9'000'000; ++i) input += "y\n";
  expect_refused(run_tool({"rerank", kBundledModel, "a query", "--label", "timer"}, input), 2,
                 "stdin: has more texts than one record may hold");
}

TEST(Embed, VectorsDependOnPoolingAndNotOnCompany) {
  const Json alone = json_of({"embed", kBundledModel, "--json", "book a flight"})[0];
  EXPECT_EQ(keys_of(alone), (std::vector<std::string>{"text", "tokens", "embedding"}));
  EXPECT_EQ(alone["tokens"], 5);
  EXPECT_EQ(alone["embedding"].size(), 128u);
  const Json together =
      json_of({"embed", kBundledModel, "--json", "a longer text beside it", "book a flight"});
  EXPECT_EQ(together[1]["embedding"], alone["embedding"]);
  const Json cls =
      json_of({"embed", kBundledModel, "--json", "--pooling", "cls", "book a flight"})[0];
  const Json mean =
      json_of({"embed", kBundledModel, "--json", "--pooling", "mean", "book a flight"})[0];
  EXPECT_NE(cls["embedding"], mean["embedding"]);
  EXPECT_EQ(run_tool({"embed", kBundledModel, "one", "two"}).lines().size(), 2u);
}

TEST(Classify, RanksLabels) {
  const Json line = json_of({"classify", kBundledModel, "--json", "what is my account balance"})[0];
  EXPECT_EQ(keys_of(line),
            (std::vector<std::string>{"text", "tokens", "label", "score", "scores"}));
  EXPECT_EQ(line["label"], "balance");
  EXPECT_EQ(line["scores"].size(), 151u);
  EXPECT_EQ(line["scores"][0]["label"], line["label"]);
  double sum = 0;
  for (const auto& entry : line["scores"]) sum += entry["score"].get<double>();
  EXPECT_NEAR(sum, 1, 1e-6);
  const Json top =
      json_of({"classify", kBundledModel, "--json", "--top", "3", "balance please"})[0];
  EXPECT_EQ(top["scores"].size(), 3u);
  const ToolResult text = run_tool({"classify", kBundledModel, "what is my account balance"});
  EXPECT_NE(text.out.find("\tbalance\twhat is my account balance\n"), std::string::npos);
}

TEST(Checksum, IsThatOfTheLogitsInTheOrderOfTheLabels) {
  std::ifstream file(kBundledModel, std::ios::binary);
  const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  const AlignedBytes blob(bytes);
  embert_model model;
  ASSERT_EQ(embert_model_open(blob.data(), blob.size(), EMBERT_ISA_SCALAR, &model),
            EMBERT_STATUS_OK);
  const embert_options options = embert_options_default(&model);
  size_t arena_bytes = 0;
  ASSERT_EQ(embert_arena_bytes(&model, &options, &arena_bytes), EMBERT_STATUS_OK);
  AlignedBytes arena(arena_bytes);
  embert_engine* engine = nullptr;
  ASSERT_EQ(embert_engine_init(&model, &options, arena.data(), arena_bytes, &engine),
            EMBERT_STATUS_OK);
  const std::string text = "freeze my account";
  const embert_text input = {
      .text = text.data(), .text_bytes = text.size(), .pair = nullptr, .pair_bytes = 0};
  std::vector<embert_label_score> items(embert_num_labels(&model));
  embert_labels labels = {.items = items.data(), .capacity = items.size(), .count = 0, .scale = {}};
  ASSERT_EQ(embert_classify_text(engine, &input, &labels), EMBERT_STATUS_OK);
  std::vector<int32_t> logits(items.size());
  for (const embert_label_score& item : items) logits[item.label] = item.logit;
  char expected[9];
  std::snprintf(expected, sizeof(expected), "%08x",
                embert_crc32c(0, logits.data(), logits.size() * sizeof(int32_t)));

  EXPECT_EQ(run_tool({"checksum", kBundledModel, text}).out, std::string(expected) + "\n");
  EXPECT_EQ(run_tool({"checksum", kBundledModel, "--isa", "scalar"}, text + "\n").out,
            std::string(expected) + "\n");
  const Json line = json_of({"checksum", kBundledModel, "--json", text}).at(0);
  EXPECT_EQ(keys_of(line), (std::vector<std::string>{"text", "tokens", "checksum"}));
  EXPECT_EQ(line["checksum"], expected);
  EXPECT_NE(run_tool({"checksum", kBundledModel, "freeze my accounts"}).out,
            std::string(expected) + "\n");
}

TEST(Texts, OneWithoutTokensGetsNoResultAndLosesNoOther) {
  const ScratchFolder scratch;
  const std::string folder = scratch.path("folder"), model = scratch.path("m.emb");
  std::filesystem::copy(kBundledFolder, folder);
  Json tokenizer = Json::parse(read_bytes(folder + "/tokenizer.json"));
  tokenizer["post_processor"] = nullptr;
  scratch.write("folder/tokenizer.json", tokenizer.dump());
  const ToolResult made = run_tool({"convert", folder, "-o", model, "--rounding", "nearest"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  for (const std::string command : {"embed", "classify"}) {
    const Json lines = json_of({command, model, "--json"}, "\nfreeze my account\n \n");
    ASSERT_EQ(lines.size(), 3u);
    const char* key = command == "embed" ? "embedding" : "label";
    EXPECT_TRUE(lines[0][key].is_null());
    EXPECT_EQ(lines[0]["tokens"], 0);
    EXPECT_EQ(lines[1][key], json_of({command, model, "--json", "freeze my account"})[0][key]);
    EXPECT_TRUE(lines[2][key].is_null());
    EXPECT_EQ(run_tool({command, model, ""}).out, "\n");
  }
}

TEST(Run, ThreadsAndInstructionSetsGiveTheSameBytes) {
  const std::string input = "cancel my hotel booking\nset the volume to four\nhow old are you\n";
  const ToolResult reference =
      run_tool({"embed", kBundledModel, "--json", "--isa", "scalar"}, input);
  ASSERT_EQ(reference.exit_code, 0) << reference.err;
  for (const char* isa : {"auto", "avx2", "avxvnni", "avx512vnni", "amxint8"}) {
    for (const char* threads : {"1", "2", "0"}) {
      const ToolResult result =
          run_tool({"embed", kBundledModel, "--json", "--isa", isa, "--threads", threads}, input);
      if (result.exit_code == 1) {
        EXPECT_NE(result.err.find("not on this machine"), std::string::npos) << result.err;
        continue;
      }
      EXPECT_EQ(result.out, reference.out) << isa << ' ' << threads;
    }
  }
}

}  // namespace
}  // namespace embert::test
