// SPDX-License-Identifier: Apache-2.0
// The exceptions of the hosted library, one type for each cause that a caller tells apart. what()
// is one line for people. The C interface turns them into codes, the tool into exit codes.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#include "targets/hosted/embert_hosted.h"

namespace embert::hosted {

struct Error : std::runtime_error {
  Error(embert_hosted_result result, const std::string& message)
      : std::runtime_error(message), code(result) {}
  embert_hosted_result code;
};

/// The call is wrong: a bad option, or a task that the model cannot do.
struct UsageError : Error {
  explicit UsageError(const std::string& message) : Error(EMBERT_HOSTED_ARGUMENT, message) {}
};

/// A file cannot be read or has the wrong content.
struct InputError : Error {
  explicit InputError(const std::string& message) : Error(EMBERT_HOSTED_FILE, message) {}
};

/// A text lacks what the task needs. what() does not name the text: its index does.
struct TextError : Error {
  TextError(size_t index, const std::string& problem)
      : Error(EMBERT_HOSTED_TEXT, problem), text(index) {}
  size_t text;
};

/// A file cannot be written; an existing one is as it was.
struct WriteError : Error {
  explicit WriteError(const std::string& message) : Error(EMBERT_HOSTED_WRITE, message) {}
};

/// The progress function asked for the end of the call.
struct Cancelled : Error {
  Cancelled() : Error(EMBERT_HOSTED_CANCELLED, "cancelled by the progress function") {}
};

/// Any other failure, such as a library call that must not fail.
struct InternalError : Error {
  explicit InternalError(const std::string& message) : Error(EMBERT_HOSTED_INTERNAL, message) {}
};

}  // namespace embert::hosted
