// SPDX-License-Identifier: Apache-2.0
// Runs the embert tool as a user does, and captures stdout and stderr.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/support/scratch_folder.hpp"

namespace embert::test {

/// The Hugging Face folder of the bundled model.
inline const std::string kBundledFolder =
    std::string(EMBERT_SOURCE_DIR) + "/targets/demo/tiny-intent";

/// The model made of it.
inline const std::string kBundledModel = EMBERT_BUNDLED_MODEL;

struct ToolResult {
  int exit_code = -1;  ///< -1: ended by a signal
  int signal = 0;
  std::string out, err;

  /// The lines of out.
  std::vector<std::string> lines() const;
};

struct ToolCall {
  std::vector<std::string> arguments;
  std::string input;                ///< stdin
  std::function<void()> in_child;   ///< runs between fork and exec: sets limits, closes files
  std::function<void(pid_t)> also;  ///< runs in the parent once the tool has started
};

ToolResult run_tool(const ToolCall& call);
ToolResult run_tool(std::vector<std::string> arguments, std::string input = "");

/// Expects this exit code, one line on stderr that contains `part`, and nothing on stdout.
void expect_refused(const ToolResult& result, int exit_code, const std::string& part);

}  // namespace embert::test
