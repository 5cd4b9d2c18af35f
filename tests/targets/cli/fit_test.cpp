// SPDX-License-Identifier: Apache-2.0
// embert fit: its numbers against those of the tool, against counts and stacks of emulated boards,
// its verdicts and its refusals.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/model_folder.hpp"
#include "tests/targets/cli/tool_runner.hpp"

namespace embert::test {
namespace {

using Json = nlohmann::ordered_json;

/// The object that `embert fit ... --json` writes; the exit code says the verdict.
Json fit(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "fit");
  arguments.emplace_back("--json");
  const ToolResult result = run_tool(arguments);
  const Json json = Json::parse(result.out, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << result.err;
  EXPECT_EQ(result.exit_code, json["verdict"] == "fits" ? 0 : 2) << result.err;
  return json;
}

std::vector<std::string> board_names() {
  const std::string message = run_tool({"fit", kBundledModel, "--board", "zzzzzzzz"}).err;
  const size_t begin = message.find("there are ") + 10;
  std::istringstream list(message.substr(begin, message.find(';', begin) - begin));
  std::vector<std::string> names;
  for (std::string name; std::getline(list, name, ',');) {
    names.push_back(name.substr(name.find_first_not_of(' ')));
  }
  return names;
}

TEST(Fit, ModelFileHasTheBytesOfFileAndArena) {
  const Json inspection = Json::parse(run_tool({"inspect", kBundledModel, "--json"}).out);
  for (const uint32_t tokens : {16u, 32u, 64u}) {
    const Json json =
        fit({kBundledModel, "--flash", "2M", "--ram", "512K", "--tokens", std::to_string(tokens)});
    EXPECT_EQ(json["blob_bytes"], std::filesystem::file_size(kBundledModel));
    EXPECT_EQ(json["kernels"].size(), 3u);
    for (const Json& kernels : json["kernels"]) {
      EXPECT_EQ(kernels["arena_bytes"], inspection["arena_bytes"][std::to_string(tokens)]);
      // In an image with the byte that marks the model's end, and aligned to 8.
      EXPECT_EQ(kernels["flash_bytes"], (json["blob_bytes"].get<size_t>() + 1 + 7) / 8 * 8 +
                                            kernels["code_bytes"].get<size_t>());
      EXPECT_EQ(kernels["ram_bytes"],
                kernels["arena_bytes"].get<size_t>() + kernels["buffer_bytes"].get<size_t>() +
                    kernels["variable_bytes"].get<size_t>() + kernels["stack_bytes"].get<size_t>());
    }
  }
}

TEST(Fit, FolderHasTheNumbersOfItsModelFile) {
  Json of_file = fit({kBundledModel, "--board", "nucleo-h743zi"});
  Json of_folder = fit({kBundledFolder, "--board", "nucleo-h743zi"});
  of_file.erase("model");
  of_folder.erase("model");
  EXPECT_EQ(of_folder, of_file);
}

TEST(Fit, SizesAsPeopleWriteThem) {
  const std::vector<std::pair<std::string, uint64_t>> sizes = {
      {"2M", 2097152},    {"1.5M", 1572864},  {"2mb", 2097152},           {"2MiB", 2097152},
      {"1600k", 1638400}, {"4G", 4294967296}, {"1474687000", 1474687000}, {"0.0625G", 67108864},
      {"1.7M", 1782579}};
  for (const auto& [text, bytes] : sizes) {
    EXPECT_EQ(fit({kBundledModel, "--flash", text, "--ram", "1M"})["flash_limit"], bytes) << text;
  }
  for (const char* text :
       {"0", "2X", "M", "1.M", ".5M", "-2M", "2 M", "5G", "1e6", "0.3", "0.0001K", "99999999999",
        "2Mi", "2bb", "", "nan", "18446744073709551617"}) {
    const ToolResult result = run_tool({"fit", kBundledModel, "--flash", text, "--ram", "1M"});
    EXPECT_EQ(result.exit_code, 1) << text;
    EXPECT_EQ(result.out, "") << text;
    EXPECT_NE(result.err.find("--flash"), std::string::npos) << text << ": " << result.err;
  }
}

TEST(Fit, EveryBoardHasItsNumbersAndTheirSource) {
  const std::vector<std::string> names = board_names();
  EXPECT_GE(names.size(), 12u);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const Json json = fit({kBundledModel, "--board", name, "--tokens", "16"});
    ASSERT_EQ(json["kernels"].size(), 1u);
    const Json& kernels = json["kernels"][0];
    EXPECT_GE(json["source"].get<std::string>().size(), 20u);
    EXPECT_GE(json["ram_limit"], 64 << 10);
    EXPECT_TRUE(json["flash_limit"].is_null() || json["flash_limit"] >= 1 << 20);
    EXPECT_GE(kernels["mhz"], 16);
    EXPECT_LE(kernels["mhz"], 4000);
    EXPECT_GT(kernels["cycles_per_instruction"], 0.2);
    EXPECT_LT(kernels["cycles_per_instruction"], 3);
    const double seconds = kernels["seconds"], instructions = kernels["instructions"];
    EXPECT_NEAR(seconds,
                instructions * kernels["cycles_per_instruction"].get<double>() /
                    (kernels["mhz"].get<double>() * 1e6),
                seconds * 1e-9);
  }
}

/// Million instructions of encode_passes, from ids to logits, under QEMU 7.2, by
/// tests/bench/fit_costs.py.
struct Counted {
  const char* board;
  uint32_t tokens;
  double millions;
};

void expect_counted(const std::string& model, const Counted& counted) {
  const Json json =
      fit({model, "--board", counted.board, "--tokens", std::to_string(counted.tokens)});
  const Json& kernels = json["kernels"][0];
  const double estimate =
      (kernels["instructions"].get<double>() - kernels["text_instructions"].get<double>()) / 1e6;
  EXPECT_NEAR(estimate, counted.millions, 0.1 * counted.millions)
      << counted.board << ", " << counted.tokens << " tokens";
}

TEST(Fit, InstructionsAreWithinTenPercentOfCounts) {
  const ScratchFolder scratch;
  const std::string model = scratch.path("fast.emb");
  ASSERT_EQ(run_tool({"convert", kBundledFolder, "-o", model, "--precision", "fast"}).exit_code, 0);
  for (const Counted& counted : std::vector<Counted>{
           {"mps2-an505", 2, 10.714},      {"mps2-an505", 5, 19.150},
           {"mps2-an505", 14, 44.640},     {"mps2-an505", 24, 73.956},
           {"mps2-an505", 40, 122.670},    {"mps2-an386", 2, 1.999},
           {"mps2-an386", 5, 3.572},       {"mps2-an386", 14, 7.744},
           {"mps2-an386", 24, 12.680},     {"mps2-an386", 40, 20.907},
           {"mps3-an547", 2, 0.476},       {"mps3-an547", 5, 0.672},
           {"mps3-an547", 14, 1.174},      {"mps3-an547", 24, 1.793},
           {"mps3-an547", 40, 2.915},      {"raspberry-pi-4b", 2, 0.287},
           {"raspberry-pi-4b", 5, 0.491},  {"raspberry-pi-4b", 14, 0.970},
           {"raspberry-pi-4b", 24, 1.564}, {"raspberry-pi-4b", 40, 2.558},
           {"raspberry-pi-5", 2, 0.164},   {"raspberry-pi-5", 5, 0.237},
           {"raspberry-pi-5", 14, 0.437},  {"raspberry-pi-5", 24, 0.685},
           {"raspberry-pi-5", 40, 1.104},
       }) {
    expect_counted(model, counted);
  }
}

TEST(Fit, InstructionsOfTheDefaultLevelAreWithinTenPercentOfCounts) {
  for (const Counted& counted : std::vector<Counted>{{"mps3-an547", 2, 0.443},
                                                     {"mps3-an547", 5, 0.642},
                                                     {"mps3-an547", 14, 1.155},
                                                     {"mps3-an547", 24, 1.785},
                                                     {"mps3-an547", 40, 2.926}}) {
    expect_counted(kBundledModel, counted);
  }
}

// The same with all inputs of 16 bits that help.
TEST(Fit, InstructionsOfTwoPlanesAreWithinTenPercentOfCounts) {
  const ScratchFolder scratch;
  const std::string model = scratch.path("high.emb");
  ASSERT_EQ(run_tool({"convert", kBundledFolder, "-o", model, "--precision", "high"}).exit_code, 0);
  for (const Counted& counted : std::vector<Counted>{{"mps2-an505", 2, 14.759},
                                                     {"mps2-an505", 14, 74.030},
                                                     {"mps2-an505", 40, 215.269},
                                                     {"mps2-an386", 2, 2.539},
                                                     {"mps2-an386", 14, 12.266},
                                                     {"mps2-an386", 40, 35.235},
                                                     {"mps3-an547", 2, 0.534},
                                                     {"mps3-an547", 14, 1.809},
                                                     {"mps3-an547", 40, 4.980},
                                                     {"raspberry-pi-4b", 2, 0.355},
                                                     {"raspberry-pi-4b", 14, 1.587},
                                                     {"raspberry-pi-4b", 40, 4.531},
                                                     {"raspberry-pi-5", 2, 0.192},
                                                     {"raspberry-pi-5", 14, 0.723},
                                                     {"raspberry-pi-5", 40, 1.991}}) {
    expect_counted(model, counted);
  }
}

// Its layers have several feed-forward networks on narrower rows.
TEST(Fit, HasNoEstimateForMobileBert) {
  const auto answer = [](const std::string& family) {
    return fit({EMBERT_SOURCE_DIR "/tests/data/reference/families/" + family, "--flash", "8M",
                "--ram", "4M"});
  };
  const Json mobile = answer("mobilebert");
  EXPECT_TRUE(mobile["work"].is_null()) << mobile["work"].dump();
  EXPECT_TRUE(mobile["kernels"][0]["instructions"].is_null()) << mobile["kernels"].dump();
  EXPECT_FALSE(answer("distilbert")["work"].is_null());
}

TEST(Fit, VerdictAndWhatToChange) {
  // RAM: the number of tokens that it names fits, and one more does not.
  const Json narrow = fit({kBundledModel, "--flash", "2M", "--ram", "64K"});
  EXPECT_EQ(narrow["verdict"], "too large");
  const uint32_t most = narrow["most_tokens"];
  ASSERT_GE(most, 1u);
  ASSERT_LT(most, 64u);
  const auto with = [](uint32_t tokens) {
    return fit({kBundledModel, "--flash", "2M", "--ram", "64K", "--tokens",
                std::to_string(tokens)})["verdict"];
  };
  EXPECT_EQ(with(most), "fits");
  EXPECT_EQ(with(most + 1), "too large");
  EXPECT_NE(narrow["remedies"].dump().find("--max-tokens " + std::to_string(most)),
            std::string::npos);
  EXPECT_NE(fit({kBundledModel, "--flash", "2M", "--ram", "1K"})["remedies"].dump().find(
                "not even one token"),
            std::string::npos);

  const ToolResult words = run_tool({"fit", kBundledModel, "--flash", "1.4M", "--ram", "64K"});
  EXPECT_EQ(words.exit_code, 2);
  EXPECT_NE(words.out.find("It does not fit."), std::string::npos);
  EXPECT_NE(words.out.find("--embeddings 4bit"), std::string::npos);
  EXPECT_NE(words.out.find("--vocabulary-size"), std::string::npos);
  EXPECT_NE(words.err.find("does not fit"), std::string::npos);
  for (const std::string& line : words.lines()) EXPECT_LE(line.size(), 80u) << line;
  const ToolResult some = run_tool({"fit", kBundledModel, "--flash", "1582000", "--ram", "1M"});
  EXPECT_EQ(some.exit_code, 2);
  EXPECT_NE(some.out.find("It does not fit with mve; it fits with scalar, dsp."), std::string::npos)
      << some.out;
  const ToolResult board = run_tool({"fit", kBundledModel, "--board", "raspberry-pi-pico-2"});
  EXPECT_EQ(board.exit_code, 0);
  EXPECT_NE(board.out.find("It fits."), std::string::npos);
  for (const std::string& line : board.lines()) EXPECT_LE(line.size(), 80u) << line;
}

TEST(Fit, OffersOnlyWhatConvertDoes) {
  const auto remedies = [](const std::string& model) {
    return fit({model, "--flash", "16K", "--ram", "1M", "--tokens", "16"})["remedies"].dump();
  };
  const TempFolder folder;
  ModelContent content = make_model();
  write_model(folder.path(), content);
  EXPECT_NE(remedies(folder.path().string()).find("--embeddings 4bit"), std::string::npos);
  // A head that predicts with the word embeddings, which keep 8 bits for it.
  content.config["architectures"] = {"BertForMaskedLM"};
  const auto add = [&](const std::string& name, const std::vector<uint64_t>& shape) {
    const uint64_t count = shape.size() == 2 ? shape[0] * shape[1] : shape[0];
    content.tensors.push_back(
        store_floats("cls.predictions." + name, shape, std::vector<float>(count, 0.1F)));
  };
  add("transform.dense.weight", {32, 32});
  add("transform.dense.bias", {32});
  add("transform.LayerNorm.weight", {32});
  add("transform.LayerNorm.bias", {32});
  add("bias", {96});
  write_model(folder.path(), content);
  EXPECT_EQ(remedies(folder.path().string()).find("--embeddings 4bit"), std::string::npos);
  // fit passes on the conversion's warning, and writes its results though the model does not fit.
  content.config["architectures"] = {"BertForSomethingElse"};
  write_model(folder.path(), content);
  const ScratchFolder scratch;
  const std::string results = scratch.write("results.txt", "those of another run");
  const ToolResult result =
      run_tool({"fit", folder.path().string(), "--flash", "16K", "--ram", "1M", "-o", results});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("head of architecture BertForSomethingElse is not supported"),
            std::string::npos)
      << result.err;
  EXPECT_NE(read_bytes(results).find("It does not fit."), std::string::npos);
}

TEST(Fit, WhatItSaysThatAConversionSavesIsSaved) {
  const ScratchFolder scratch;
  const Json narrow = fit({kBundledModel, "--flash", "1.2M", "--ram", "512K"});
  const std::string text = narrow["remedies"].dump();
  const size_t blob = narrow["blob_bytes"];
  const auto number_behind = [&](const std::string& words) {
    std::string digits;
    for (size_t at = text.find(words) + words.size(); at < text.size(); ++at) {
      if (text[at] == ',') continue;
      if (std::isdigit(static_cast<unsigned char>(text[at])) == 0) break;
      digits += text[at];
    }
    return digits;
  };
  const std::string smaller = scratch.path("smaller.emb");
  ASSERT_EQ(run_tool({"convert", kBundledFolder, "-o", smaller, "--embeddings", "4bit"}).exit_code,
            0);
  const double saved = static_cast<double>(blob - std::filesystem::file_size(smaller));
  EXPECT_NEAR(std::stod(number_behind("saves about ")), saved, 0.01 * saved);
  ASSERT_EQ(run_tool({"convert", kBundledFolder, "-o", smaller, "--vocabulary-size",
                      number_behind("--vocabulary-size ")})
                .exit_code,
            0);
  const Json fitting = fit({smaller, "--flash", "1.25M", "--ram", "512K"});
  EXPECT_EQ(fitting["verdict"], "fits") << fitting["kernels"].dump();
}

TEST(Fit, RefusesWhatItCannotAnswer) {
  const ScratchFolder scratch;
  const auto refused = [](std::vector<std::string> arguments, int code, const std::string& part) {
    arguments.insert(arguments.begin(), "fit");
    expect_refused(run_tool(arguments), code, part);
  };
  refused({kBundledModel, "--flash", "2M"}, 1, "--ram is missing");
  refused({kBundledModel, "--ram", "2M"}, 1, "--flash is missing");
  refused({kBundledModel}, 1, "--board NAME");
  refused({kBundledModel, "--board", "nucleo-h734zi"}, 1, "did you mean nucleo-h743zi?");
  refused({kBundledModel, "--board", ""}, 1, "--flash is missing");
  refused({kBundledModel, "--board", "nucleo-h743zi", "--ram", "1M"}, 1, "contradicts --board");
  refused({kBundledModel, "--board", "nucleo-h743zi", "--flash", "4M"}, 1, "contradicts --board");
  refused({kBundledModel, "--board", "nucleo-h743zi", "--tokens", "65"}, 1, "64 positions");
  refused({kBundledModel, "--flash", "2 MB", "--ram", "2M"}, 1, "such as 512K");
  const ToolResult range =
      run_tool({"fit", kBundledModel, "--board", "mps2-an500", "--tokens", "0"});
  EXPECT_EQ(range.exit_code, 1);
  const std::string text = scratch.path("text.emb");
  std::ofstream(text) << "no model\n";
  refused({text, "--board", "nucleo-h743zi"}, 2, "not an embert model");
  refused({scratch.path("nothing.emb"), "--board", "nucleo-h743zi"}, 2, "nothing.emb");
  std::ofstream(scratch.path("empty.emb")).close();
  refused({scratch.path("empty.emb"), "--board", "nucleo-h743zi"}, 2, "is empty");
  std::filesystem::create_directory(scratch.path("folder"));
  refused({scratch.path("folder"), "--board", "nucleo-h743zi"}, 2, "config.json");
}

}  // namespace
}  // namespace embert::test
