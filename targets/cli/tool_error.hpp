// SPDX-License-Identifier: Apache-2.0
// The exceptions of subcommands, one type for each exit code. what() is one line for the user.
#pragma once

#include <stdexcept>

namespace embert::cli {

enum ExitCode : int { kExitOk = 0, kExitUsage = 1, kExitInput = 2, kExitInternal = 3 };

/// The call is wrong: a bad option, or a task that the model cannot do.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A file cannot be read or has the wrong content.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Any other failure: no memory, a full disk, a library call that must not fail.
struct InternalError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The reader of stdout has closed the pipe: the tool ends quietly with 0.
struct OutputClosed {};

}  // namespace embert::cli
