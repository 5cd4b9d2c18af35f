// SPDX-License-Identifier: Apache-2.0
// Where results go: the members that a JSON line carries through, the file of --output, and the
// mark of a text that was cut.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/targets/cli/tool_runner.hpp"

namespace embert::test {
namespace {

using Json = nlohmann::ordered_json;

std::string long_text() {
  std::string text;
  for (int word = 0; word < 100; ++word) text += "word ";
  return text;
}

TEST(JsonLines, CarryTheirOtherMembers) {
  const std::string input =
      "{\"id\": 7, \"text\": \"set a timer\", \"meta\": {\"b\": [1, null], \"a\": \"\\u00e9\"}}\n"
      "{\"text\": \"hello\"}\n";
  const std::vector<std::string> commands = {"embed", "classify", "tokenize", "checksum"};
  for (const std::string& command : commands) {
    const ToolResult result = run_tool({command, kBundledModel, "--jsonl", "--json"}, input);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    ASSERT_EQ(result.lines().size(), 2u) << command;
    const Json first = Json::parse(result.lines()[0]);
    EXPECT_EQ(first["id"], 7) << command;
    EXPECT_EQ(first["meta"].dump(), "{\"b\":[1,null],\"a\":\"\xC3\xA9\"}") << command;
    EXPECT_EQ(first["text"], "set a timer") << command;
    // What carries nothing is as without --jsonl.
    EXPECT_EQ(result.lines()[1],
              run_tool({command, kBundledModel, "--json", "hello"}).lines().at(0));
  }
  const ToolResult pairs =
      run_tool({"similarity", kBundledModel, "--jsonl", "--json"},
               "{\"text\": \"a cat\", \"pair\": \"a dog\", \"gold\": 2.5, \"n\": [[]]}\n");
  const Json pair = Json::parse(pairs.lines().at(0));
  EXPECT_EQ(pair["gold"], 2.5) << pairs.err;
  EXPECT_EQ(pair["n"], Json::parse("[[]]"));
}

TEST(JsonLines, CarriedControlCharactersAreEscaped) {
  const ToolResult result = run_tool({"tokenize", kBundledModel, "--jsonl", "--json"},
                                     "{\"text\": \"hello\", \"k\x7F\": \"\xC2\x9B\"}\n");
  EXPECT_NE(result.out.find(R"("k\u007f":"\u009b")"), std::string::npos) << result.out;
}

TEST(JsonLines, TheResultsOwnKeysStay) {
  const ToolResult result =
      run_tool({"classify", kBundledModel, "--jsonl", "--json", "--top", "1"},
               "{\"text\": \"set a timer\", \"label\": \"mine\", \"truncated\": 5, \"k\": 1}\n"
               "{\"text\": \"set a timer\", \"label\": \"mine\"}\n");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json line = Json::parse(result.lines().at(0));
  EXPECT_EQ(line["label"], "timer");
  EXPECT_FALSE(line.contains("truncated"));
  EXPECT_EQ(line["k"], 1);
  EXPECT_EQ(result.err,
            "embert: stdin line 1: the input's \"label\" is left out, as the result has a key of "
            "this name\n")
      << "once";
  EXPECT_EQ(run_tool({"classify", kBundledModel, "--jsonl", "--json", "--quiet"},
                     "{\"text\": \"set a timer\", \"label\": \"mine\"}\n")
                .err,
            "");
}

TEST(Truncated, IsMarkedAndCounted) {
  const std::string input = long_text() + "\nshort\n" + long_text() + "\n";
  for (const std::string command : {"embed", "classify", "tokenize"}) {
    const ToolResult result = run_tool({command, kBundledModel, "--json"}, input);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(Json::parse(result.lines().at(0)).at("truncated"), true) << command;
    EXPECT_FALSE(Json::parse(result.lines().at(1)).contains("truncated")) << command;
    EXPECT_EQ(Json::parse(result.lines().at(2)).at("truncated"), true) << command;
    EXPECT_EQ(result.err,
              "embert: 2 texts were cut to the model's length; --json marks each as "
              "\"truncated\", --on-long error refuses them\n");
    const ToolResult refused =
        run_tool({command, kBundledModel, "--on-long", "error"}, "short\nshort\n" + input);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_EQ(refused.lines().size(), 2u) << "the lines before have their results";
    EXPECT_NE(refused.err.find("stdin line 3: the text has more than 64 tokens"), std::string::npos)
        << refused.err;
    const ToolResult plain = run_tool({command, kBundledModel}, input);
    EXPECT_EQ(plain.err, result.err);
    EXPECT_EQ(run_tool({command, kBundledModel, "--quiet"}, input).err, "");
  }
  // A text that fits to the token is not cut: [CLS] and [SEP] take two of 64.
  std::string whole;
  for (int word = 0; word < 62; ++word) whole += "a ";
  const ToolResult fits = run_tool({"embed", kBundledModel, "--json", whole});
  EXPECT_EQ(Json::parse(fits.lines().at(0))["tokens"], 64);
  EXPECT_EQ(fits.err, "");
  EXPECT_NE(run_tool({"embed", kBundledModel, "--json", whole + "a"}).err, "");
  for (const std::string command : {"similarity", "tokenize"}) {
    const std::string pairs = "a\tb\nc\t" + long_text() + "\nd\te\n";
    const ToolResult refused = run_tool({command, kBundledModel, "--on-long", "error"}, pairs);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_EQ(refused.lines().size(), 1u) << command;
    EXPECT_NE(refused.err.find("stdin line 2: the text has more than"), std::string::npos);
  }
  EXPECT_EQ(run_tool({"embed", kBundledModel, "--on-long", "wrap", "a"}).exit_code, 1);
  const ToolResult pair = run_tool({"similarity", kBundledModel, "--json", "short", long_text()});
  EXPECT_EQ(Json::parse(pair.lines().at(0)).at("truncated"), true);
}

TEST(OutputOption, WritesTheSameIntoAFile) {
  const ScratchFolder scratch;
  const std::string out = scratch.path("out.jsonl");
  for (const std::string command : {"embed", "classify", "tokenize", "checksum"}) {
    const ToolResult to_file = run_tool({command, kBundledModel, "--json", "-o", out}, "a\nb\n");
    EXPECT_EQ(to_file.exit_code, 0) << to_file.err;
    EXPECT_EQ(to_file.out, "");
    const ToolResult to_stdout = run_tool({command, kBundledModel, "--json"}, "a\nb\n");
    EXPECT_EQ(read_bytes(out), to_stdout.out);
    EXPECT_EQ(run_tool({command, kBundledModel, "--json", "--output", "-"}, "a\nb\n").out,
              to_stdout.out);
  }
  EXPECT_EQ(run_tool({"inspect", kBundledModel, "--json", "-o", out}).exit_code, 0);
  EXPECT_EQ(read_bytes(out), run_tool({"inspect", kBundledModel, "--json"}).out);
}

TEST(OutputOption, AFailedRunLeavesTheOldFile) {
  const ScratchFolder scratch;
  const std::string out = scratch.write("out.jsonl", "old\n");
  chmod(out.c_str(), 0640);
  const std::vector<std::string> call = {"classify", kBundledModel, "--jsonl", "--json", "-o", out};
  expect_refused(run_tool(call, "{\"text\": \"a\"}\n[]\n"), 2, "stdin line 2: is no JSON object");
  EXPECT_EQ(read_bytes(out), "old\n");
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"out.jsonl"}) << "nothing half-written";
  EXPECT_EQ(run_tool(call, "{\"text\": \"a\"}\n").exit_code, 0);
  EXPECT_NE(read_bytes(out), "old\n");
  struct stat info = {};
  ASSERT_EQ(stat(out.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0640u);
}

TEST(OutputOption, WhatCannotBeWrittenIsRefusedBeforeTheWork) {
  const ScratchFolder scratch;
  const std::string model = scratch.write("m.emb", read_bytes(kBundledModel));
  expect_refused(run_tool({"embed", model, "a", "-o", model}), 1, "the call reads this file");
  EXPECT_EQ(read_bytes(model), read_bytes(kBundledModel));
  expect_refused(run_tool({"embed", kBundledModel, "a", "-o", scratch.path("none/x")}), 1,
                 "none/x: cannot write: ");
  expect_refused(run_tool({"embed", kBundledModel, "a", "-o", scratch.path("")}), 1,
                 "is not a regular file");
  const ToolResult both =
      run_tool({"embed", kBundledModel, "a", "-o", scratch.path("x"), "--npy", scratch.path("y")});
  EXPECT_EQ(both.exit_code, 1);
  EXPECT_TRUE(scratch.names() == std::vector<std::string>{"m.emb"});
}

TEST(OutputOption, AnInputIsRefusedByAnyName) {
  const ScratchFolder scratch;
  const std::string model = scratch.write("m.emb", read_bytes(kBundledModel));
  const std::string folder = scratch.path("folder");
  std::filesystem::copy(kBundledFolder, folder);
  const std::string weights = folder + "/model.safetensors", before = read_bytes(weights);
  const std::string by_no_folder = scratch.path("none/../m.emb");
  for (const std::vector<std::string>& call :
       {std::vector<std::string>{"inspect", model, "-o", by_no_folder},
        {"embed", model, "a", "--npy", model},
        {"embed", model, "a", "--npy", by_no_folder}}) {
    expect_refused(run_tool(call), 1, "the call reads this file as MODEL");
  }
  for (const std::vector<std::string>& call :
       {std::vector<std::string>{"verify", model, folder, "-o", weights},
        {"verify", model, folder, "--report", folder + "/config.json"},
        {"fit", folder, "--flash", "2M", "--ram", "512K", "-o", weights}}) {
    expect_refused(run_tool(call), 1, "is a file of the model folder");
  }
  for (const char* option : {"-o", "--npy"}) {
    expect_refused(run_tool({"embed", model, "a", option, ""}), 1, "expected the name of a file");
  }
  expect_refused(run_tool({"embed", model, "a", "--npy", "-"}), 1, "expected the name of a file");
  EXPECT_EQ(read_bytes(model), read_bytes(kBundledModel));
  EXPECT_EQ(read_bytes(weights), before);
}

TEST(OutputOption, ALinkIsWrittenThrough) {
  namespace fs = std::filesystem;
  const ScratchFolder scratch;
  const std::string link = scratch.path("link"), file = scratch.path("results/file");
  fs::create_directory(scratch.path("results"));
  fs::create_symlink("results/second", link);
  fs::create_symlink("file", scratch.path("results/second"));
  for (const char* text : {"a", "b"}) {  // a new file, and one that is replaced
    const ToolResult result = run_tool({"tokenize", kBundledModel, text, "-o", link});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_TRUE(fs::is_symlink(scratch.path("results/second")));
    EXPECT_TRUE(fs::exists(file));
    EXPECT_EQ(read_bytes(file), run_tool({"tokenize", kBundledModel, text}).out);
  }
  fs::create_symlink("nowhere/file", scratch.path("lost"));
  fs::create_symlink("circle", scratch.path("circle"));
  for (const char* name : {"lost", "circle"}) {
    expect_refused(run_tool({"tokenize", kBundledModel, "a", "-o", scratch.path(name)}), 1,
                   std::string(name) + ": cannot write: ");
    EXPECT_TRUE(fs::is_symlink(scratch.path(name)));
  }
}

// Both names lead to a file that does not exist yet.
TEST(OutputOption, ALinkToTheOtherOutputIsRefused) {
  const ScratchFolder scratch;
  std::filesystem::create_symlink("page.html", scratch.path("link"));
  const std::string texts = scratch.write("texts", "a\n");
  expect_refused(run_tool({"verify", kBundledModel, kBundledFolder, "--texts", texts, "--report",
                           scratch.path("page.html"), "-o", scratch.path("link")}),
                 1, "the call writes this file as --report");
}

TEST(OutputOption, AFileThatGrowsTooLargeLeavesTheOldOne) {
  const ScratchFolder scratch;
  ToolCall call;
  const std::string out = scratch.write("out.txt", "old\n");
  call.arguments = {"embed", kBundledModel, "-o", out};
  for (int line = 0; line < 100; ++line) call.input += "a\n";
  call.in_child = [] {
    const rlimit limit = {4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
  };
  const ToolResult result = run_tool(call);
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_NE(result.err.find("out.txt: cannot write: "), std::string::npos) << result.err;
  EXPECT_EQ(read_bytes(out), "old\n");
}

}  // namespace
}  // namespace embert::test
