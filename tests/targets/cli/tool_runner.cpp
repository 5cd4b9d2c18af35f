// SPDX-License-Identifier: Apache-2.0
#include "tests/targets/cli/tool_runner.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>
#include <stdexcept>

namespace embert::test {

std::vector<std::string> ToolResult::lines() const {
  std::vector<std::string> result;
  std::istringstream stream(out);
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

ToolResult run_tool(const ToolCall& call) {
  const ScratchFolder scratch;
  const std::string in = scratch.write("stdin", call.input);
  const std::string out = scratch.write("stdout", ""), err = scratch.write("stderr", "");
  std::vector<std::string> words = {EMBERT_EMULATE, EMBERT_TOOL_PATH};
  if (words[0].empty()) words.erase(words.begin());
  words.insert(words.end(), call.arguments.begin(), call.arguments.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork");
  if (child == 0) {
    dup2(open(in.c_str(), O_RDONLY), STDIN_FILENO);
    dup2(open(out.c_str(), O_WRONLY), STDOUT_FILENO);
    dup2(open(err.c_str(), O_WRONLY), STDERR_FILENO);
    for (int file = 3; file < 64; ++file) close(file);
    if (call.in_child) call.in_child();
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  if (call.also) call.also(child);
  int status = 0;
  if (waitpid(child, &status, 0) != child) throw std::runtime_error("waitpid");
  ToolResult result;
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.out = read_bytes(out);
  result.err = read_bytes(err);
  return result;
}

ToolResult run_tool(std::vector<std::string> arguments, std::string input) {
  ToolCall call;
  call.arguments = std::move(arguments);
  call.input = std::move(input);
  return run_tool(call);
}

void expect_refused(const ToolResult& result, int exit_code, const std::string& part) {
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
}

}  // namespace embert::test
