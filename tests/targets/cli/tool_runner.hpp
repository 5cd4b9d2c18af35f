// SPDX-License-Identifier: Apache-2.0
// Runs the embert tool as a user does and keeps what it writes.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace embert::test {

struct ToolResult {
  int exit_code = -1;  ///< -1: ended by a signal
  int signal = 0;
  std::string out, err;

  std::vector<std::string> lines() const;  ///< of out
};

struct ToolCall {
  std::vector<std::string> arguments;
  std::string input;                ///< stdin
  std::function<void()> in_child;   ///< between fork and exec: limits, closed files
  std::function<void(pid_t)> also;  ///< in the parent, once the tool has started
};

ToolResult run_tool(const ToolCall& call);
ToolResult run_tool(std::vector<std::string> arguments, std::string input = "");

/// A folder of its own that is removed again.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string write(const std::string& name, const std::string& bytes) const;
  /// Names of the files in it, sorted.
  std::vector<std::string> names() const;

 private:
  std::string folder_;
};

std::string read_bytes(const std::string& path);

}  // namespace embert::test
