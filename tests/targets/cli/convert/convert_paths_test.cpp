// SPDX-License-Identifier: Apache-2.0
// convert refuses, before the work, to overwrite its inputs or to read or write a pipe.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "tests/targets/cli/tool_runner.hpp"

namespace embert::test {
namespace {

namespace fs = std::filesystem;

TEST(ConvertPaths, AnInputIsNoOutput) {
  const ScratchFolder scratch;
  const std::string folder = scratch.path("folder");
  fs::copy(kBundledFolder, folder, fs::copy_options::recursive);
  fs::create_directory(folder + "/1_Pooling");
  fs::copy_file(folder + "/config.json", folder + "/1_Pooling/config.json");
  fs::create_directory(folder + "/1_Pooling/deeper");
  fs::copy_file(folder + "/config.json", folder + "/1_Pooling/deeper/config.json");
  scratch.write("folder/spiece.model", "a vocabulary of sentencepiece");
  fs::create_symlink(folder + "/vocab.txt", scratch.path("link"));
  fs::create_hard_link(folder + "/model.safetensors", scratch.path("hard"));
  const std::string weights = read_bytes(folder + "/model.safetensors");
  for (const std::string& output :
       {folder + "/model.safetensors", folder + "/../folder/config.json", folder + "/spiece.model",
        scratch.path("none/../folder/config.json"), folder + "/1_Pooling/config.json",
        folder + "/1_Pooling/deeper/config.json", scratch.path("link"), scratch.path("hard")}) {
    SCOPED_TRACE(output);
    const std::string file = fs::weakly_canonical(output), before = read_bytes(file);
    expect_refused(run_tool({"convert", folder, "-o", output}), 1, "model folder");
    expect_refused(
        run_tool({"convert", folder, "-o", scratch.path("model.emb"), "--report", output}), 1,
        "model folder");
    EXPECT_EQ(read_bytes(file), before);
  }
  fs::remove(folder + "/spiece.model");
  const std::string texts = scratch.write("texts", "a text\n");
  expect_refused(run_tool({"convert", folder, "-o", texts, "--calibration", texts}), 1,
                 "calibration file");
  EXPECT_EQ(read_bytes(texts), "a text\n");
  // A new file in the folder is no input; neither is a model that was written there.
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(
        run_tool({"convert", folder, "-o", folder + "/m.emb", "--rounding", "nearest"}).exit_code,
        0);
  }
  EXPECT_EQ(read_bytes(folder + "/model.safetensors"), weights);
}

TEST(ConvertPaths, ModelAndReportAreTwoFiles) {
  const ScratchFolder scratch;
  const std::string model = scratch.path("same.emb");
  const std::string again = scratch.path("./same.emb");
  expect_refused(run_tool({"convert", kBundledFolder, "-o", model, "--report", again}), 1,
                 "two files");
  fs::create_symlink("same.emb", scratch.path("link"));
  expect_refused(
      run_tool({"convert", kBundledFolder, "-o", model, "--report", scratch.path("link")}), 1,
      "two files");
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"link"});
}

TEST(ConvertPaths, ALinkIsWrittenThrough) {
  const ScratchFolder scratch;
  fs::create_directory(scratch.path("models"));
  fs::create_symlink("models/new.emb", scratch.path("dangling"));
  const ToolResult result = run_tool(
      {"convert", kBundledFolder, "-o", scratch.path("dangling"), "--rounding", "nearest"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(fs::is_symlink(scratch.path("dangling")));
  EXPECT_TRUE(fs::is_regular_file(scratch.path("models/new.emb")));
  fs::create_symlink("nowhere/new.emb", scratch.path("lost"));
  expect_refused(run_tool({"convert", kBundledFolder, "-o", scratch.path("lost")}), 1,
                 "lost: cannot");
  fs::create_symlink("two", scratch.path("one"));
  fs::create_symlink("one", scratch.path("two"));
  expect_refused(run_tool({"convert", kBundledFolder, "-o", scratch.path("one")}), 1,
                 "one: cannot");
  EXPECT_TRUE(fs::is_symlink(scratch.path("one")));
}

TEST(ConvertPaths, APipeIsRefused) {
  const ScratchFolder scratch;
  const std::string pipe = scratch.path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  expect_refused(run_tool({"convert", kBundledFolder, "-o", pipe}), 1, "is a pipe");
  for (const std::string& file : {pipe, std::string("/dev/zero")}) {
    SCOPED_TRACE(file);
    for (const char* option : {"--calibration", "--calibration-ids"}) {
      expect_refused(run_tool({"convert", kBundledFolder, "--dry-run", option, file}), 2,
                     "is not a regular file");
    }
    expect_refused(run_tool({"verify", EMBERT_BUNDLED_MODEL, kBundledFolder, "--texts", file}), 2,
                   "is not a regular file");
  }
  expect_refused(
      run_tool({"convert", kBundledFolder, "--dry-run", "--calibration", scratch.path("none")}), 2,
      "none: cannot be opened: No such file");
  const std::string large = scratch.write("large.txt", "text\n");
  fs::resize_file(large, (size_t{256} << 20) + 1);
  expect_refused(run_tool({"convert", kBundledFolder, "--dry-run", "--calibration", large}), 2,
                 "at most 268435456 are read");
}

/// A string takes 32 bytes, and a line one.
TEST(ConvertPaths, TooManyLinesAreRefused) {
  const ScratchFolder scratch;
  const std::string lines = scratch.write("lines.txt", std::string((size_t{1} << 24) + 1, '\n'));
  const std::string what = "lines.txt: has more than 16777216 lines, give fewer";
  expect_refused(run_tool({"convert", kBundledFolder, "--dry-run", "--calibration", lines}), 2,
                 what);
  expect_refused(run_tool({"verify", EMBERT_BUNDLED_MODEL, kBundledFolder, "--texts", lines}), 2,
                 what);
}

}  // namespace
}  // namespace embert::test
