// SPDX-License-Identifier: Apache-2.0
// Exit codes and messages for wrong calls and bad files, on every subcommand that reads a model.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/synthetic_blob.hpp"
#include "tests/support/system/filter_calls.hpp"
#include "tests/targets/cli/tool_runner.hpp"

namespace embert::test {
namespace {

std::string synthetic_blob() {
  const std::vector<uint8_t> bytes = make_synthetic_blob({});
  return {bytes.begin(), bytes.end()};
}

const std::vector<std::string> kTextCommands = {
    "tokenize", "embed", "similarity", "classify",  "rerank",   "next-sentence",
    "choose",   "tag",   "answer",     "fill-mask", "generate", "checksum"};
const std::vector<std::string> kModelCommands = [] {
  std::vector<std::string> commands = kTextCommands;
  commands.insert(commands.end(), {"inspect", "bench"});
  return commands;
}();

TEST(Usage, HelpHasAnExample) {
  std::vector<std::vector<std::string>> calls = {{"--help"}};
  for (const std::string& command : kModelCommands) calls.push_back({command, "--help"});
#if EMBERT_HAS_CONVERTER
  calls.push_back({"convert", "--help"});
  calls.push_back({"verify", "--help"});
#endif
  for (const auto& call : calls) {
    const ToolResult result = run_tool(call);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_NE(result.out.find("Example:\n  embert "), std::string::npos) << call[0];
    EXPECT_EQ(result.err, "");
  }
  EXPECT_EQ(run_tool({"--version"}).out.rfind("embert ", 0), 0u);
}

TEST(Usage, WrongCallsExitWith1) {
  const ScratchFolder scratch;
  const std::string model = scratch.write("model.emb", synthetic_blob());
  const std::vector<std::vector<std::string>> calls = {
      {},
      {"frobnicate"},
      {"inspect"},
      {"inspect", model, "--no-such-option"},
      {"embed", model, "--pooling", "median", "text"},
      {"embed", model, "--threads", "-1", "text"},
      {"embed", model, "--threads", "many", "text"},
      {"embed", model, "--isa", "sse9", "text"},
      {"classify", model, "--top", "0", "text"},
      {"classify", model, "--function", "tanh", "text"},
      {"embed", model, "--dimensions", "0", "text"},
      {"embed", model, "--format", "int4", "text"},
      {"rerank", model, "--top", "0", "query", "document"},
      {"choose", model, "--top", "0", "prompt", "choice"},
      {"tag", model, "--aggregation", "all", "text"},
      {"tag", model, "--stride", "-1", "text"},
      {"answer", model, "--top", "0", "question", "context"},
      {"answer", model, "--max-answer-tokens", "0", "question", "context"},
      {"answer", model, "--window", "0", "question", "context"},
      {"fill-mask", model, "--top", "0", "text"},
      {"generate", model, "--beams", "0", "text"},
      {"generate", model, "--max-new-tokens", "0", "text"},
      {"generate", model, "--temperature", "0", "--sample", "text"},
      {"generate", model, "--top-p", "1.5", "--sample", "text"},
      {"generate", model, "--seed", "7", "text"},
      {"generate", model, "--beams", "2", "--sample", "text"},
      {"bench", model, "--tokens", "0"},
      {"bench", model, "--tokens", "16,x"},
      {"bench", model, "--json", "--csv"},
      {"bench", model, "--svg", "--csv"}};
  for (const auto& call : calls) {
    const ToolResult result = run_tool(call);
    EXPECT_EQ(result.exit_code, 1) << ::testing::PrintToString(call) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err, "");
  }
}

TEST(Usage, SubcommandsAreNamed) {
  expect_refused(run_tool({"frob\nnicate"}), 1, "unknown subcommand \"frob?nicate\"");
  expect_refused(run_tool({"frobnicate"}), 1, "inspect, tokenize, embed, similarity, classify");
  expect_refused(run_tool(std::vector<std::string>{}), 1,
                 "inspect, tokenize, embed, similarity, classify");
  expect_refused(run_tool({"classify", "--zzzzzzzz"}), 1, "`embert classify --help`");
}

TEST(Usage, TextCallsOnAModelWithoutTokenizerExitWith1) {
  const ScratchFolder scratch;
  const std::string model = scratch.write("model.emb", synthetic_blob());
  for (const std::string& command : kTextCommands) {
    expect_refused(run_tool({command, model, "text"}), 1, "EMBERT_STATUS_NO_TOKENIZER");
  }
}

TEST(BadFile, ExitsWith2AndOneLineThatNamesIt) {
  const ScratchFolder scratch;
  const std::string good = synthetic_blob();
  std::string changed = good;
  changed[good.size() / 2] = static_cast<char>(changed[good.size() / 2] ^ 1);
  const std::vector<std::pair<std::string, std::string>> cases = {
      {scratch.path("missing.emb"), "missing.emb: cannot be opened"},
      {scratch.path(""), "is not a regular file"},
      {scratch.write("empty.emb", ""), "empty.emb: is empty"},
      {scratch.write("text.emb", std::string(5000, 'x')), "EMBERT_STATUS_BLOB_MAGIC"},
      {scratch.write("byte.emb", "e"), "EMBERT_STATUS_BLOB_MAGIC"},
      {scratch.write("pointer.emb", "version https://git-lfs.github.com/spec/v1\n"),
       "git lfs pull"},
      {scratch.write("short.gguf", "GGUF\3"), "is a file of GGUF"},
      {scratch.write("head.emb", good.substr(0, 100)), "EMBERT_STATUS_BLOB_TRUNCATED"},
      {scratch.write("half.emb", good.substr(0, good.size() / 2)), "EMBERT_STATUS_BLOB_TRUNCATED"},
      {scratch.write("short.emb", good.substr(0, good.size() - 1)), "EMBERT_STATUS_BLOB_TRUNCATED"},
      {scratch.write("changed.emb", changed), "EMBERT_STATUS_BLOB_CHECKSUM"}};
  for (const auto& [path, part] : cases) {
    for (const std::string& command : kModelCommands) {
      SCOPED_TRACE(command + " " + path);
      expect_refused(run_tool({command, path}), 2, part);
    }
  }
}

TEST(BadFile, APipeIsNotWaitedFor) {
  const ScratchFolder scratch;
  const std::string pipe = scratch.path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& command : kModelCommands) {
    expect_refused(run_tool({command, pipe}), 2, "pipe: is not a regular file");
  }
}

TEST(BadFile, MessagesStayOnOneLineAndTameATerminal) {
  expect_refused(run_tool({"inspect", "no\nsuch\033[31m.emb"}), 2, "no?such?[31m.emb: cannot be");
  expect_refused(run_tool({"inspect", "c1\xC2\x9Bm\xFF.emb"}), 2, "c1?m?.emb: cannot be opened");
  expect_refused(run_tool({"inspect", "\xC3\xA9.emb"}), 2, "\xC3\xA9.emb: cannot be opened");
  expect_refused(run_tool({"inspect", ""}), 2, "embert: \"\": cannot be opened");
}

// The first allocations belong to the loader and to objects that exist before main().
TEST(Memory, ALackOfItEndsTheToolWith3AndALine) {
#if defined(EMBERT_FAILING_STACKS)
  const ScratchFolder scratch;
  const std::string model = scratch.write("model.emb", synthetic_blob());
  // The loader splits LD_PRELOAD at spaces.
  const std::string library = model + ".so";
  std::filesystem::create_symlink(EMBERT_FAILING_STACKS, library);
  bool was_short = false;
  for (int first = 1; first < 4000; first += 300) {
    ToolCall call = {{"inspect", model}, "", {}, {}};
    call.in_child = [first, &library] {
      setenv("LD_PRELOAD", library.c_str(), 1);
      setenv("EMBERT_FAIL_FROM", std::to_string(first).c_str(), 1);
    };
    const ToolResult result = run_tool(call);
    SCOPED_TRACE(first);
    EXPECT_EQ(result.signal, 0);
    if (result.exit_code == 0) continue;
    was_short = true;
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_EQ(result.err, "embert: not enough memory\n");
  }
  EXPECT_TRUE(was_short);
#else
  GTEST_SKIP() << "malloc can not be replaced in this build";
#endif
}

/// For ToolCall::in_child.
void close_reader_of_stdout() {
  int ends[2];
  if (pipe(ends) != 0) _exit(99);
  dup2(ends[1], STDOUT_FILENO);
  close(ends[0]);
  close(ends[1]);
}

void expect_quiet_end(ToolCall call) {
  call.in_child = close_reader_of_stdout;
  const ToolResult result = run_tool(call);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
}

void write_to_full_device() { dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO); }

TEST(Output, AClosedReaderEndsTheToolQuietly) {
  const ScratchFolder scratch;
  ToolCall call;
  call.arguments = {"inspect", scratch.write("model.emb", synthetic_blob())};
  expect_quiet_end(call);
}

TEST(Output, AFullDeviceExitsWith3) {
  const ScratchFolder scratch;
  ToolCall call;
  call.arguments = {"inspect", scratch.write("model.emb", synthetic_blob())};
  call.in_child = write_to_full_device;
  const ToolResult full = run_tool(call);
  EXPECT_EQ(full.exit_code, 3);
  EXPECT_NE(full.err.find("cannot write to stdout"), std::string::npos) << full.err;
  call.in_child = [] { close(STDOUT_FILENO); };
  EXPECT_EQ(run_tool(call).exit_code, 3);
}

TEST(Output, HelpAndVersionAreWrittenAsResultsAre) {
  ToolCall call;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--help"}, {"--version"}, {"device", "serve", "--help"}}) {
    SCOPED_TRACE(::testing::PrintToString(words));
    call.arguments = words;
    call.in_child = write_to_full_device;
    expect_refused(run_tool(call), 3, "cannot write to stdout: ");
    expect_quiet_end(call);
  }
}

TEST(Output, HelpIsOnStdoutAndLeavesTheOldFile) {
  const ScratchFolder scratch;
  const std::string out = scratch.write("out", "old\n");
  const ToolResult help =
      run_tool({"inspect", scratch.write("m.emb", synthetic_blob()), "-o", out, "--help"});
  EXPECT_EQ(help.exit_code, 0) << help.err;
  EXPECT_EQ(help.out, run_tool({"inspect", "--help"}).out);
  EXPECT_TRUE(help.out.ends_with("\n") && !help.out.ends_with("\n\n")) << help.out;
  EXPECT_EQ(read_bytes(out), "old\n");
  EXPECT_EQ(scratch.names().size(), 2u) << "nothing half-written";
}

TEST(Inspect, SaysWhatTheModelNeeds) {
  const ScratchFolder scratch;
  const std::string blob = synthetic_blob();
  const ToolResult result = run_tool({"inspect", scratch.write("m.emb", blob), "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["blob_bytes"], blob.size());
  EXPECT_EQ(json["sha256"].get<std::string>().size(), 64u);
  EXPECT_GT(json["arena_bytes"]["16"], 0);
  EXPECT_LT(json["arena_bytes"]["16"], json["arena_bytes"]["64"]);
  EXPECT_FALSE(json["arena_bytes"].contains("128")) << "more than the model's positions";
  EXPECT_EQ(json["header"]["hidden_size"], 64);
  EXPECT_EQ(json["header"]["embedding_size"], 64);
  EXPECT_TRUE(json["tokenizer"].is_null());
  EXPECT_EQ(json["labels"].size(), 5u);
  size_t layer_weights = 0;
  for (const auto& tensor : json["tensors"]) {
    if (tensor["name"] == "ffn_up") layer_weights += tensor["bytes"].get<size_t>();
  }
  EXPECT_EQ(layer_weights, 2u * (64 * 128 + 3 * 4 * 128));
}

TEST(Inspect, FirstSaysInWordsWhatTheModelIs) {
  const ScratchFolder scratch;
  const std::string model = scratch.write("m.emb", synthetic_blob());
  const ToolResult result = run_tool({"inspect", model});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto has = [&](const std::string& part) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part << "\n" << result.out;
  };
  has("m.emb, an encoder: 2 layers of width 64, 4 heads, feed-forward width 128\n");
  has("\ncan do       embed, similarity, classify\n");  // five labels are no reranker's
  has("\ntexts        at most ");
  has("; no tokenizer: it takes ids\n");
  has("\nexactness    not compared with float32 when it was converted\n");
  has("\nsha256       ");
  EXPECT_EQ(result.out.find("ffn_up"), std::string::npos) << "only with --tensors";
  const ToolResult more = run_tool({"inspect", model, "--tensors"});
  EXPECT_EQ(more.out.rfind(result.out, 0), 0u) << "the summary comes first";
  EXPECT_NE(more.out.find("layer1.ffn_up"), std::string::npos);
  EXPECT_NE(more.out.find("  intermediate_size "), std::string::npos);
}

// Made by the converter of version 3, before column groups and inputs of 16 bits.
TEST(Embed, AModelOfVersion3GivesTheSameVector) {
  const std::string model = std::string(EMBERT_SOURCE_DIR) + "/tests/data/version-3/small.emb";
  EXPECT_EQ(run_tool({"embed", model, "--json", "--format", "int8", "the cats sat on a mat"}).out,
            "{\"text\":\"the cats sat on a mat\",\"tokens\":9,\"embedding\":"
            "[-21,-30,23,71,-28,-59,43,-21,24,-127,31,-54,36,2,25,29]}\n");
  const auto inspected = nlohmann::json::parse(run_tool({"inspect", model, "--json"}).out);
  EXPECT_EQ(inspected["prompts"], nlohmann::json::object());
  EXPECT_TRUE(inspected["default_prompt_name"].is_null());
}

TEST(Bench, HasTheColumnsInEveryFormat) {
  const ScratchFolder scratch;
  const std::string model = scratch.write("model.emb", synthetic_blob());
  const std::vector<std::string> call = {"bench", model,    "--tokens",  "8,16",
                                         "--isa", "scalar", "--repeats", "3"};
  auto with = [&](const char* option) {
    std::vector<std::string> arguments = call;
    arguments.push_back(option);
    return run_tool(arguments);
  };
  const ToolResult json = with("--json");
  ASSERT_EQ(json.exit_code, 0) << json.err;
  ASSERT_EQ(json.lines().size(), 2u);
  const auto first = nlohmann::json::parse(json.lines()[0]);
  EXPECT_EQ(first["tokens"], 8);
  EXPECT_EQ(first["threads"], 1);
  EXPECT_EQ(first["isa"], "scalar");
  EXPECT_LE(first["min_ms"], first["median_ms"]);
  EXPECT_LE(first["median_ms"], first["p90_ms"]);
  EXPECT_GT(first["gmac_per_s"], 0);
  EXPECT_TRUE(first.contains("percent_of_peak"));

  const std::string columns =
      "tokens,threads,isa,min_ms,median_ms,p90_ms,gmac_per_s,percent_of_peak";
  EXPECT_EQ(with("--csv").lines().at(0), columns);
  EXPECT_EQ(with("--csv").lines().size(), 3u);
  EXPECT_EQ(with("--markdown").lines().at(1),
            "| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |");
  EXPECT_EQ(run_tool(call).lines().size(), 3u);
  expect_refused(run_tool({"bench", model, "--tokens", "512"}), 1, "64 positions");
  const ToolResult plot = with("--svg");
  ASSERT_EQ(plot.exit_code, 0) << plot.err;
  EXPECT_EQ(plot.lines().at(0).find("<svg "), 0u);
  EXPECT_EQ(plot.lines().back(), "</svg>");
  const size_t curve = plot.out.find("points=\"");
  ASSERT_NE(curve, std::string::npos);
  const std::string points = plot.out.substr(curve, plot.out.find('>', curve) - curve);
  EXPECT_EQ(std::count(points.begin(), points.end(), ','), 16) << "a point for each length";
  EXPECT_NE(plot.err.find("1 thread: the largest step is that to "), std::string::npos) << plot.err;
  const ToolResult all =
      run_tool({"bench", model, "--tokens", "8", "--threads", "0", "--repeats", "1", "--json"});
  ASSERT_EQ(all.exit_code, 0) << all.err;
  EXPECT_GE(nlohmann::json::parse(all.out)["threads"], 1);
}

#ifdef EMBERT_HAS_SERVE
#ifdef SYS_readlink
constexpr uint32_t kReadLink = SYS_readlink;
#else
constexpr uint32_t kReadLink = SYS_readlinkat;
#endif
constexpr int kNoFilter = 99;

/// For ToolCall::in_child: no link can be read, as where /proc is not mounted.
void take_links() {
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kReadLink, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOENT),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  if (!filter_calls(steps)) _exit(kNoFilter);
}

TEST(StartServer, ExecutesNothingOfTheCurrentFolder) {
  const ScratchFolder scratch;
  const std::string program = scratch.write("embert-server", "#!/bin/sh\necho executed >&2\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  ToolCall call;
  call.arguments = {"serve", scratch.write("model.emb", "")};
  call.in_child = [&] {
    if (chdir(std::filesystem::path(program).parent_path().c_str()) != 0) _exit(1);
    take_links();
  };
  const ToolResult result = run_tool(call);
  if (result.exit_code == kNoFilter) GTEST_SKIP() << "NOT TESTED: no filter for system calls here";
  expect_refused(result, 3, "/proc/self/exe: No such file or directory");
}
#endif

}  // namespace
}  // namespace embert::test
