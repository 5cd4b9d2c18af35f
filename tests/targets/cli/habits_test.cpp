// SPDX-License-Identifier: Apache-2.0
// Twenty mistakes that users make, and what they expect of any tool: help, completion, a manual
// page, silence on request.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "tests/support/synthetic_blob.hpp"
#include "tests/targets/cli/tool_runner.hpp"

namespace embert::test {
namespace {

std::string blob() {
  const std::vector<uint8_t> bytes = make_synthetic_blob({});
  return {bytes.begin(), bytes.end()};
}

// Each message says what was found, what was expected and what to do.
TEST(Mistakes, AreAnsweredWithALineThatHelps) {
  const ScratchFolder scratch;
  const std::string model = scratch.write("m.emb", blob());
  const std::string text = scratch.write("lines.txt", "a\nb\n");
  struct Mistake {
    std::vector<std::string> call;
    int exit_code;
    std::string part;
  };
  const std::vector<Mistake> mistakes = {
      {{"clasify", model}, 1, "unknown subcommand \"clasify\"; did you mean classify?"},
      {{"Embed", model}, 1, "did you mean embed?"},
      {{"similarty", model}, 1, "did you mean similarity?"},
      {{"nextsentence", model}, 1, "did you mean next-sentence?"},
      {{"device", "validat"}, 1, "did you mean validate?"},
      {{"device"}, 1, "a subcommand is missing; there are validate, serve"},
      {{"quantize", model}, 1, "unknown subcommand \"quantize\"; there are "},
      {{"--verson"}, 1, "embert has no option \"--verson\"; did you mean --version?"},
      {{"classify", model, "--topk", "3", "a"}, 1, "did you mean --top?"},
      {{"embed", model, "--normalise", "a"}, 1, "did you mean --normalize?"},
      {{"embed", model, "--dim", "8", "a"}, 1, "did you mean --dimensions?"},
      {{"embed", model, "--thread=2", "a"}, 1, "did you mean --threads?"},
      {{"generate", model, "--max_new_tokens", "5", "a"}, 1, "did you mean --max-new-tokens?"},
      {{"generate", model, "--max_length", "5", "a"}, 1, "embert generate --help"},
      {{"embed", "--json"}, 1, "MODEL is required"},
      {{"embed", model, "--pooling", "avg", "a"}, 1, "avg not in {cls,max,mean}"},
      {{"embed", model, "--threads", "100", "a"}, 1, "Value 100 not in range"},
      {{"embed", text, "a"}, 2, "lines.txt: not an embert model"},
      {{"embed", scratch.path(""), "a"}, 2, "is not a regular file"},
      {{"embed", scratch.path("m.em"), "a"}, 2, "m.em: cannot be opened"},
      {{"help", "clasify"}, 1, "did you mean classify?"},
      {{"completion", "tcsh"}, 1, "tcsh not in {bash,zsh,fish}"},
      {{"inspect", model, "-o", model}, 1, "the call reads this file as MODEL; give another one"},
  };
  for (const Mistake& mistake : mistakes) {
    const ToolResult result = run_tool(mistake.call);
    SCOPED_TRACE(::testing::PrintToString(mistake.call));
    EXPECT_EQ(result.exit_code, mistake.exit_code);
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err.find(mistake.part), std::string::npos) << result.err;
    EXPECT_LE(std::count(result.err.begin(), result.err.end(), '\n'), 2) << result.err;
  }
}

std::vector<std::string> all_commands() {
  std::vector<std::string> names;
  const std::string known = run_tool({"zzzzzzzz"}).err;
  size_t at = known.find("there are ") + 10;
  while (at < known.size()) {
    const size_t end = std::min(known.find(", ", at), known.find('\n', at));
    names.push_back(known.substr(at, end - at));
    at = end + 2;
  }
  return names;
}

TEST(Help, IsTheSameByBothNames) {
  const std::vector<std::string> names = all_commands();
  EXPECT_GE(names.size(), 18u);
  for (const std::string& name : names) {
    const ToolResult by_option = run_tool({name, "--help"});
    const ToolResult by_command = run_tool({"help", name});
    EXPECT_EQ(by_command.exit_code, 0) << by_command.err;
    // CLI11 leaves the tool's name out of the usage line of --help.
    const std::string usage = "Usage: embert " + name;
    EXPECT_NE(by_command.out.find(usage), std::string::npos) << by_command.out;
    EXPECT_EQ(by_command.out.substr(by_command.out.find("\n\n")),
              by_option.out.substr(by_option.out.find("\n\n")))
        << name;
  }
  EXPECT_NE(run_tool({"help"}).out.find("Usage: embert [OPTIONS] SUBCOMMAND"), std::string::npos);
  EXPECT_NE(run_tool({"help", "device", "serve"}).out.find("--listen"), std::string::npos);
}

TEST(Help, ManualAndCompletionsHaveEveryCommandAndOption) {
  const std::string manual = run_tool({"help", "--manual"}).out;
  EXPECT_EQ(manual.rfind(".TH EMBERT 1 ", 0), 0u);
  const std::vector<std::string> shells = {"bash", "zsh", "fish"};
  std::vector<std::string> scripts;
  for (const std::string& shell : shells) scripts.push_back(run_tool({"completion", shell}).out);
  for (const std::string& name : all_commands()) {
    for (const std::string& script : scripts) {
      EXPECT_NE(script.find(name), std::string::npos) << name;
    }
    const std::string help = run_tool({"help", name}).out;
    size_t options = 0;
    for (size_t at = help.find("--"); at != std::string::npos; at = help.find("--", at + 2)) {
      const size_t end = help.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-", at);
      const bool begins_line = help[at - 1] == ' ' || help[at - 1] == ',';
      const size_t line = help.rfind('\n', at);
      const bool is_entry = begins_line && at - line < 8 && help.compare(line + 1, 3, "  -") == 0;
      if (!is_entry) continue;
      const std::string option = help.substr(at + 2, end - at - 2);
      ++options;
      std::string in_manual = "\\-\\-" + option;
      for (size_t dash = 4; (dash = in_manual.find('-', dash)) != std::string::npos; dash += 2) {
        in_manual.insert(dash, "\\");
      }
      EXPECT_NE(manual.find(in_manual), std::string::npos) << option;
      EXPECT_NE(scripts[0].find("--" + option), std::string::npos) << option;
      EXPECT_NE(scripts[1].find("--" + option), std::string::npos) << option;
      EXPECT_NE(scripts[2].find(" -l " + option + " "), std::string::npos) << option;
    }
    EXPECT_TRUE(options >= 3 || name == "device") << name;
  }
}

/// Runs a script in a shell; skips the test if the shell is not installed.
std::string shell_output(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::string out;
  char part[512];
  while (fgets(part, sizeof(part), pipe) != nullptr) out += part;
  pclose(pipe);
  return out;
}

bool has(const std::string& program) { return !shell_output("command -v " + program).empty(); }

TEST(Completion, WorksInBash) {
  if (!has("bash")) GTEST_SKIP() << "NOT TESTED: bash is not installed";
  const ScratchFolder scratch;
  const std::string script = scratch.write("embert", run_tool({"completion", "bash"}).out);
  const auto complete = [&](const std::string& words) {
    return shell_output("bash -c '. " + script + "; COMP_WORDS=(" + words +
                        "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); compopt() { :; }; _embert; "
                        "echo ${COMPREPLY[*]}'");
  };
  EXPECT_EQ(complete("embert cl"), "classify\n");
  EXPECT_EQ(complete("embert classify m.emb --th"), "--threads --threshold\n");
  EXPECT_EQ(complete("embert classify m.emb --function s"), "softmax sigmoid\n");
  EXPECT_EQ(complete("embert device v"), "validate\n");
  EXPECT_EQ(complete("embert device serve --li"), "--listen\n");
  EXPECT_EQ(complete("embert completion --ou"), "--output\n");
  EXPECT_EQ(complete("embert completion z"), "zsh\n");
  EXPECT_EQ(complete("embert help clas"), "classify\n");
}

TEST(Completion, WorksInFish) {
  if (!has("fish")) GTEST_SKIP() << "NOT TESTED: fish is not installed";
  const ScratchFolder scratch;
  const std::string script = scratch.write("embert.fish", run_tool({"completion", "fish"}).out);
  const auto complete = [&](const std::string& line) {
    return shell_output("HOME=" + scratch.path("") + " fish --no-config -c 'source " + script +
                        "; complete -C \"" + line + "\"'");
  };
  EXPECT_EQ(complete("embert clas").rfind("classify\t", 0), 0u) << complete("embert clas");
  EXPECT_NE(complete("embert classify m.emb --thresh").find("--threshold\t"), std::string::npos);
  EXPECT_NE(complete("embert classify m.emb --function s").find("softmax"), std::string::npos);
  EXPECT_NE(complete("embert device v").find("validate"), std::string::npos);
  EXPECT_EQ(complete("embert completion z").rfind("zsh", 0), 0u) << complete("embert completion z");
  EXPECT_EQ(complete("embert help clas").rfind("classify", 0), 0u);
}

TEST(Completion, IsAcceptedByZsh) {
  if (!has("zsh")) GTEST_SKIP() << "NOT TESTED: zsh is not installed";
  const ScratchFolder scratch;
  const std::string script = scratch.write("_embert", run_tool({"completion", "zsh"}).out);
  EXPECT_EQ(shell_output("zsh -n " + script), "");
  EXPECT_EQ(shell_output("zsh -f -c 'autoload -U compinit; compinit -u -D; . " + script +
                         "; echo ${_comps[embert]}'"),
            "_embert\n");
}

/// Runs the tool with a terminal as stderr and returns what it shows.
std::string on_terminal(const std::vector<std::string>& arguments, const char* no_color) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) return "no terminal";
  const std::string name = ptsname(terminal);
  const int other = open(name.c_str(), O_RDWR | O_NOCTTY);  // so that what was written stays
  ToolCall call;
  call.arguments = arguments;
  call.in_child = [&] {
    dup2(open(name.c_str(), O_RDWR | O_NOCTTY), STDERR_FILENO);
    setenv("TERM", "xterm", 1);
    no_color != nullptr ? setenv("NO_COLOR", no_color, 1) : unsetenv("NO_COLOR");
  };
  run_tool(call);
  char shown[4096];
  fcntl(terminal, F_SETFL, O_NONBLOCK);
  const ssize_t count = read(terminal, shown, sizeof(shown));
  close(terminal);
  close(other);
  return {shown, count > 0 ? static_cast<size_t>(count) : 0};
}

TEST(Messages, HaveColoursOnATerminalOnly) {
  const std::string red = "\033[31membert:\033[0m ";
  EXPECT_EQ(on_terminal({"clasify"}, nullptr).rfind(red, 0), 0u);
  EXPECT_EQ(on_terminal({"clasify"}, "").rfind(red, 0), 0u) << "an empty NO_COLOR is none";
  EXPECT_EQ(on_terminal({"clasify"}, "1").rfind("embert: ", 0), 0u);
  EXPECT_EQ(run_tool({"clasify"}).err.rfind("embert: ", 0), 0u);
}

TEST(Messages, QuietLeavesErrorsOnly) {
  const ScratchFolder scratch;
  const std::string model = scratch.write("m.emb", blob());
  const std::vector<std::string> call = {"bench", model, "--tokens", "8,512", "--repeats", "1"};
  EXPECT_NE(run_tool(call).err.find("--tokens 512: left out"), std::string::npos);
  std::vector<std::string> quiet = call;
  quiet.push_back("--quiet");
  EXPECT_EQ(run_tool(quiet).err, "");
  expect_refused(run_tool({"bench", model, "--tokens", "512", "-q"}), 1, "64 positions");
}

TEST(Version, NamesBuildAndKernels) {
  const ToolResult result = run_tool({"--version"});
  ASSERT_EQ(result.lines().size(), 3u) << result.out;
  EXPECT_EQ(result.lines()[0].rfind("embert ", 0), 0u);
  EXPECT_EQ(result.lines()[1].rfind("build: ", 0), 0u);
  EXPECT_EQ(result.lines()[2].rfind("kernels that run here: scalar", 0), 0u);
}

}  // namespace
}  // namespace embert::test
