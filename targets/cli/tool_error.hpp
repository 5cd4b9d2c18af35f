// SPDX-License-Identifier: Apache-2.0
// What a subcommand throws, one type an exit code. what() is one line for the user.
#pragma once

#include <stdexcept>

namespace embert::cli {

enum ExitCode : int { kExitOk = 0, kExitUsage = 1, kExitInput = 2, kExitInternal = 3 };

/// The call is wrong: an option, or something asked of a model that does not have it.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A file that cannot be read or is not what it should be.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Anything else: no memory, a full disk, a broken promise of the library.
struct InternalError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The reader of stdout has gone: the tool ends quietly, as there is nobody left to tell.
struct OutputClosed {};

}  // namespace embert::cli
