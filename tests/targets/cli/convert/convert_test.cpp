// SPDX-License-Identifier: Apache-2.0
// However convert ends, it leaves either a whole model or the file that was there before.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "embert/embert.h"
#include "tests/support/model_folder.hpp"
#include "tests/targets/cli/tool_runner.hpp"

namespace embert::test {
namespace {

namespace fs = std::filesystem;

/// Returns a copy of the bundled folder for changes.
std::string copy_folder(const ScratchFolder& scratch) {
  fs::copy(kBundledFolder, scratch.path("folder"), fs::copy_options::recursive);
  return scratch.path("folder");
}

void expect_one_line(const ToolResult& result, const std::string& part) {
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
}

TEST(Convert, ABrokenFolderLeavesTheOldFile) {
  const ScratchFolder scratch;
  const std::string model = scratch.write("model.emb", "old");
  const ToolResult missing = run_tool({"convert", scratch.path("nowhere"), "-o", model});
  EXPECT_EQ(missing.exit_code, 2);
  expect_one_line(missing, "nowhere");

  const std::string folder = copy_folder(scratch);
  fs::resize_file(folder + "/model.safetensors", 100000);
  const ToolResult cut = run_tool({"convert", folder, "-o", model});
  EXPECT_EQ(cut.exit_code, 2);
  expect_one_line(cut, "model.safetensors");
  EXPECT_EQ(read_bytes(model), "old");
  EXPECT_EQ(scratch.names(), (std::vector<std::string>{"folder", "model.emb"}));
}

TEST(Convert, WithoutATokenizerSaysThatTheModelTakesIds) {
  const ScratchFolder scratch;
  const std::string folder = copy_folder(scratch), blob = scratch.path("ids.emb");
  for (const char* file : {"tokenizer.json", "tokenizer_config.json", "vocab.txt"}) {
    fs::remove(folder + "/" + file);
  }
  const ToolResult converted = run_tool({"convert", folder, "-o", blob});
  EXPECT_EQ(converted.exit_code, 0);
  EXPECT_NE(converted.err.find("the model takes token ids, not text; add tokenizer.json"),
            std::string::npos)
      << converted.err;
  expect_refused(run_tool({"classify", blob, "a text"}), 1, "no tokenizer");
}

TEST(Convert, NeedsAnOutputButForADryRun) {
  EXPECT_EQ(run_tool({"convert", kBundledFolder}).exit_code, 1);
  const ScratchFolder scratch;
  const std::string model = scratch.path("model.emb");
  const ToolResult dry =
      run_tool({"convert", kBundledFolder, "-o", model, "--dry-run", "--rounding", "nearest"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_TRUE(scratch.names().empty());
  EXPECT_EQ(run_tool({"convert", kBundledFolder, "-o", model, "--rounding", "up"}).exit_code, 1);
  EXPECT_EQ(run_tool({"convert", kBundledFolder, "-o", model, "--embeddings", "2bit"}).exit_code,
            1);
  const ToolResult level =
      run_tool({"convert", kBundledFolder, "-o", model, "--precision", "best"});
  EXPECT_EQ(level.exit_code, 1);
  EXPECT_NE(level.err.find("best not in {fast,balanced,high}"), std::string::npos) << level.err;
}

TEST(Convert, WritesModelAndReport) {
  const ScratchFolder scratch;
  const std::string model = scratch.path("model.emb"), report = scratch.path("report.json");
  const ToolResult result = run_tool({"convert", kBundledFolder, "-o", model, "--report", report,
                                      "--rounding", "nearest", "--max-tokens", "32"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err.find('\r'), std::string::npos) << "a progress bar without a terminal";
  EXPECT_EQ(scratch.names(), (std::vector<std::string>{"model.emb", "report.json"}));
  const auto reported = nlohmann::json::parse(read_bytes(report));
  const auto inspected = nlohmann::json::parse(run_tool({"inspect", model, "--json"}).out);
  EXPECT_EQ(reported["sha256"], inspected["sha256"]);
  EXPECT_EQ(inspected["header"]["max_tokens"], 32);
  EXPECT_EQ(inspected["blob_bytes"], read_bytes(model).size());
}

TEST(Convert, OrdersWeightsForI8mm) {
  const ScratchFolder scratch;
  const auto convert = [&](const std::string& model, const std::string& layout) {
    return run_tool({"convert", kBundledFolder, "-o", model, "--rounding", "nearest", "--layout",
                     layout, "--report", scratch.path("report.html")});
  };
  const std::string all = scratch.path("all.emb"), i8mm = scratch.path("i8mm.emb");
  for (const auto& [model, layout] : {std::pair{all, "n16k4"}, std::pair{i8mm, "n8k16"}}) {
    ASSERT_EQ(convert(model, layout).exit_code, 0);
    const auto inspected = nlohmann::json::parse(run_tool({"inspect", model, "--json"}).out);
    EXPECT_EQ(inspected["header"]["layout"], layout);
  }
  EXPECT_EQ(read_bytes(all).size(), read_bytes(i8mm).size());
  EXPECT_NE(read_bytes(all), read_bytes(i8mm));
  EXPECT_NE(run_tool({"inspect", i8mm}).out.find("only processors with i8mm"), std::string::npos);
  const auto run = [](std::vector<std::string> command, const std::string& model) {
    command[1] = model;
    return run_tool(command);
  };
  const std::string refusal = "its weights are in the order of i8mm (EMBERT_STATUS_LAYOUT)";
  const bool runs = (embert_isa_detect() & EMBERT_ISA_I8MM) != 0;
  const std::vector<std::string> commands[] = {
      {"classify", "MODEL", "wake me at six"},
      {"checksum", "MODEL", "wake me at six"},
      {"bench", "MODEL", "--tokens", "4", "--repeats", "1", "--json"}};
  for (const std::vector<std::string>& command : commands) {
    const ToolResult expected = run(command, all), result = run(command, i8mm);
    EXPECT_EQ(expected.exit_code, 0) << expected.err;
    if (!runs) {
      expect_refused(result, 2, refusal);
      continue;
    }
    EXPECT_EQ(result.exit_code, 0) << result.err;
    if (command[0] != "bench") {
      EXPECT_EQ(result.out, expected.out);
    }
  }
  // Tokens need no kernels that read the weights; a board has none.
  const std::vector<std::string> tokenize = {"tokenize", "MODEL", "wake me at six"};
  EXPECT_EQ(run(tokenize, i8mm).out, run(tokenize, all).out);
  EXPECT_EQ(run(tokenize, i8mm).exit_code, 0);
  expect_refused(run({"fit", "MODEL", "--board", "raspberry-pi-5"}, i8mm), 2, refusal);
  EXPECT_EQ(convert(all, "n4k4").exit_code, 1);
}

TEST(Convert, SaysWhatEmbeddingsOf4BitsCost) {
  const ToolResult result = run_tool(
      {"convert", kBundledFolder, "--dry-run", "--rounding", "nearest", "--embeddings", "4bit"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("word embeddings have 4 bits; with 8 bits: cosine mean 0.99"),
            std::string::npos)
      << result.out;
}

TEST(Convert, WarnsOfLittleCalibration) {
  const ScratchFolder scratch;
  const std::string report = scratch.path("report.json");
  const ToolResult result = run_tool({"convert", kBundledFolder, "-o", scratch.path("m.emb"),
                                      "--report", report, "--rounding", "nearest", "--calibration",
                                      scratch.write("texts.txt", "hello\n\nset a timer\n")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("warning: calibrated on 2 texts only"), std::string::npos)
      << result.err;
  EXPECT_FALSE(nlohmann::json::parse(read_bytes(report))["warnings"].empty());
}

TEST(Convert, TakesAnEvenSampleOfALargeCalibrationFile) {
  const ScratchFolder scratch;
  std::string lines;  // 2 x 4096 lines, of which every second is taken
  for (int i = 0; i < 4096; ++i) lines += "2 7 3\nnot ids\n";
  const ToolResult result =
      run_tool({"convert", kBundledFolder, "--dry-run", "--rounding", "nearest",
                "--calibration-ids", scratch.write("ids.txt", lines)});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("calibrated on 4096 texts"), std::string::npos) << result.out;
}

TEST(Convert, AFullDiskLeavesTheOldFile) {
  const ScratchFolder scratch;
  const std::string model = scratch.write("model.emb", "old");
  ToolCall call;
  call.arguments = {"convert", kBundledFolder, "-o", model, "--rounding", "nearest"};
  // A write beyond the limit fails, as on a full disk.
  call.in_child = [] {
    const rlimit limit = {100000, 100000};
    setrlimit(RLIMIT_FSIZE, &limit);
  };
  const ToolResult result = run_tool(call);
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_EQ(read_bytes(model), "old");
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"model.emb"});
}

TEST(Convert, AnUnwritableFolderIsAnError) {
  const ScratchFolder scratch;
  const ToolResult result = run_tool({"convert", kBundledFolder, "-o",
                                      scratch.path("no/such/folder.emb"), "--rounding", "nearest"});
  EXPECT_NE(result.exit_code, 0);
  expect_one_line(result, "folder.emb");
}

TEST(Convert, InterruptedLeavesNothingHalf) {
  const ScratchFolder folder;
  const std::string uninterrupted = folder.write("model.emb", "");
  run_tool({"convert", kBundledFolder, "-o", uninterrupted, "--rounding", "nearest"});
  const std::string whole = read_bytes(uninterrupted);
  ASSERT_GT(whole.size(), 1000000u);
  for (const int signal_number : {SIGINT, SIGTERM}) {
    for (const useconds_t delay_us : {2000u, 50000u, 200000u, 500000u}) {
      const ScratchFolder scratch;
      const std::string model = scratch.write("model.emb", "old");
      ToolCall call;
      call.arguments = {"convert", kBundledFolder, "-o", model, "--rounding", "nearest"};
      call.also = [&](pid_t child) {
        usleep(delay_us);
        kill(child, signal_number);
      };
      const ToolResult result = run_tool(call);
      EXPECT_EQ(scratch.names(), std::vector<std::string>{"model.emb"}) << delay_us;
      if (result.exit_code != 0) {
        EXPECT_EQ(result.signal, signal_number) << result.exit_code << result.err;
        // A signal between the new file and the end of the program finds the new one.
        const std::string left = read_bytes(model);
        EXPECT_TRUE(left == "old" || left == whole) << left.size() << " bytes after " << delay_us;
      }
    }
  }
}

TEST(Verify, ComparesWithFloat) {
  const ScratchFolder scratch;
  const std::string texts =
      scratch.write("texts.txt", "freeze my account\nwhat's the weather\ntell me a joke\n");
  const ToolResult result =
      run_tool({"verify", EMBERT_BUNDLED_MODEL, kBundledFolder, "--texts", texts, "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["compared"], "logits");
  EXPECT_EQ(json["texts"], 3);
  EXPECT_GE(json["agreement"], 0.99);
  EXPECT_GT(json["cosine_min"], 0.99);
  EXPECT_EQ(run_tool({"verify", EMBERT_BUNDLED_MODEL, kBundledFolder}).exit_code, 1);
  EXPECT_EQ(
      run_tool({"verify", EMBERT_BUNDLED_MODEL, kBundledFolder, "--texts", scratch.path("none")})
          .exit_code,
      2);
}

/// Returns a decoder with a language model head; tensor names as in files of transformers.
ModelContent language_model(const ModelOptions& options) {
  ModelContent content = make_model(options);
  content.config["architectures"] = {"BertLMHeadModel"};
  content.config["is_decoder"] = true;
  const auto hidden = static_cast<std::uint64_t>(options.hidden);
  const auto add = [&](const std::string& name, const std::vector<std::uint64_t>& shape) {
    std::vector<float> values(shape.size() == 1 ? shape[0] : shape[0] * shape[1]);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = 0.1F * static_cast<float>(i % 7) - 0.3F;
    content.tensors.push_back(store_floats("cls.predictions." + name, shape, values));
  };
  add("transform.dense.weight", {hidden, hidden});
  add("transform.dense.bias", {hidden});
  add("transform.LayerNorm.weight", {hidden});
  add("transform.LayerNorm.bias", {hidden});
  add("bias", {static_cast<std::uint64_t>(options.vocab)});
  return content;
}

TEST(Verify, LabelsAreNoText) {
  const ScratchFolder scratch;
  std::string labelled, plain;
  for (int i = 0; i < 8; ++i) {
    labelled += "set a timer for " + std::to_string(i) + " minutes\ttimer\n";
    plain += "set a timer for " + std::to_string(i) + " minutes\n";
  }
  const auto verify = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"verify", EMBERT_BUNDLED_MODEL, kBundledFolder};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_tool(arguments);
  };
  const std::string texts = scratch.write("labelled", labelled);
  expect_refused(verify({"--texts", texts}), 2, "give the file to --labelled");
  // Few lines, but their labels are the model's.
  const std::string few = scratch.write("few", "wake me at six\ttimer\nhello there\tgreeting\n");
  expect_refused(verify({"--texts", few}), 2, "give the file to --labelled");
  const std::string other_words = scratch.write("words", "wake me\tat six\nhello\tgreeting\n");
  EXPECT_EQ(verify({"--texts", other_words}).exit_code, 0);
  const std::string plain_file = scratch.write("plain", plain);
  expect_refused(verify({"--labelled", plain_file}), 2,
                 "plain: line 1: expected text, a tab and a label");
  expect_refused(verify({"--labelled", texts}), 2, "all lines have the label \"timer\"");
  expect_refused(verify({}), 1, "--texts FILE or --labelled FILE");
  // Behind the lines that name the file or count right answers.
  const auto cosines = [](const ToolResult& result) {
    const std::size_t begin = result.out.find("cosine_mean");
    return result.out.substr(begin, result.out.find("worst") - begin);
  };
  const ToolResult of_labelled =
      verify({"--labelled", scratch.write("two", labelled + "hello there\tgreeting\n")});
  const ToolResult of_plain = verify({"--texts", scratch.write("three", plain + "hello there\n")});
  EXPECT_EQ(cosines(of_labelled), cosines(of_plain)) << "the comparison leaves out the labels";
}

TEST(Verify, ComparesADecodersLogits) {
  const ScratchFolder scratch;
  ModelOptions options;
  options.tokenizer = options.bert_prefix = true;
  const TempFolder folder;
  write_model_folder(folder.path(), options);
  write_model(folder.path(), language_model(options));
  const std::string model = scratch.path("model.emb");
  const std::string texts = scratch.write("texts.txt", "time flies like an arrow\nfruit\n");
  const ToolResult converted = run_tool({"convert", folder.path(), "-o", model});
  ASSERT_EQ(converted.exit_code, 0) << converted.err;
  const auto compared = [](const std::string& which) {
    return "against float32 on 64 other texts (" + which + "), word logits: cosine mean";
  };
  EXPECT_NE(converted.out.find(compared("built-in texts")), std::string::npos) << converted.out;
  const std::string counted = " % of 64 tokens are the same, largest logit error ";
  EXPECT_NE(converted.out.find(counted), std::string::npos) << converted.out;
  const ToolResult result = run_tool({"verify", model, folder.path(), "--texts", texts, "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["compared"], "word logits");
  EXPECT_EQ(json["texts"], 2);
  EXPECT_EQ(json["texts_file"], texts);
  EXPECT_EQ(json["answers"]["kind"], "tokens");
  EXPECT_EQ(json["answers"]["count"], 2);
  EXPECT_GT(json["cosine_min"], 0.99);
  EXPECT_GT(json["logit_error_max"], 0);
  EXPECT_EQ(json["worst"][0].size(), 2);

  // A model without a tokenizer cannot read texts, but convert compares on ids if there are enough.
  fs::remove(folder.path() / "vocab.txt");
  const ToolResult by_ids = run_tool({"convert", folder.path(), "-o", model});
  EXPECT_NE(by_ids.out.find(compared("random ids")), std::string::npos) << by_ids.out;
  const ToolResult refused = run_tool({"verify", model, folder.path(), "--texts", texts});
  EXPECT_EQ(refused.exit_code, 1);
  expect_one_line(refused, "has no tokenizer");
  const ToolResult few = run_tool({"convert", folder.path(), "--dry-run", "--calibration-ids",
                                   scratch.write("ids.txt", "2 7 3\n")});
  EXPECT_NE(few.out.find("not compared with float32: of fewer than 7 texts"), std::string::npos)
      << few.out;
}

TEST(Verify, ReferencePairs) {
  const fs::path models = fs::path(EMBERT_SHARED_DIR) / "reference/models";
  if (!fs::exists(models)) GTEST_SKIP() << "NOT TESTED: no reference data at " << models;
  const ScratchFolder scratch;
  const std::string texts = scratch.write("texts.txt", "abc\nc b a\nb\n");
  std::string words = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (char letter = 'a'; letter <= 'z'; ++letter) words += std::string{letter, '\n'};
  for (const std::string name :
       {"decoder_cross_attention", "encoder_decoder_projection", "seq2seq_transformer"}) {
    const std::string folder = scratch.path(name), model = scratch.path("model.emb");
    fs::copy(models / name, folder);
    scratch.write(name + "/vocab.txt", words);
    ASSERT_EQ(run_tool({"convert", folder, "-o", model, "--rounding", "nearest"}).exit_code, 0);
    const ToolResult result = run_tool({"verify", model, folder, "--texts", texts, "--json"});
    ASSERT_EQ(result.exit_code, 0) << name << result.err;
    EXPECT_GT(nlohmann::json::parse(result.out)["cosine_min"], 0.98) << name;
  }
}

}  // namespace
}  // namespace embert::test
