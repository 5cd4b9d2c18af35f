// SPDX-License-Identifier: Apache-2.0
// The exit codes of the tool. Subcommands throw the exceptions of the hosted library; what() is one
// line for the user.
#pragma once

#include "targets/hosted/hosted_error.hpp"

namespace embert::cli {

/// The tool is written in the names of the hosted library.
using namespace hosted;

enum ExitCode : int { kExitOk = 0, kExitUsage = 1, kExitInput = 2, kExitInternal = 3 };

/// The exit code for an error: 1 for a wrong call, 2 for a bad input, 3 for any other failure, such
/// as no memory or a full disk.
constexpr ExitCode exit_code_of(const Error& error) {
  switch (error.code) {
    case EMBERT_HOSTED_ARGUMENT:
      return kExitUsage;
    case EMBERT_HOSTED_FILE:
    case EMBERT_HOSTED_TEXT:
      return kExitInput;
    default:
      return kExitInternal;
  }
}

/// The reader of stdout has closed the pipe: the tool ends quietly with 0.
struct OutputClosed {};

}  // namespace embert::cli
