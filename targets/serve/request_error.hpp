// SPDX-License-Identifier: Apache-2.0
// A request that is refused: its HTTP status and the JSON that says why, in the form of OpenAI.
#pragma once

#include <stdexcept>
#include <string>

#include "targets/hosted/hosted_error.hpp"
#include "targets/hosted/line_text.hpp"

namespace embert::serve {

/// The server is written in the names of the hosted library.
using namespace hosted;

struct RequestError : std::runtime_error {
  /// code: a word for programs, such as "model_not_found".
  RequestError(int http_status, const char* word, const std::string& message)
      : std::runtime_error(message), status(http_status), code(word) {}
  int status;
  const char* code;
};

/// {"error": {"message", "type", "param", "code"}}
std::string error_json(const RequestError& error);

}  // namespace embert::serve
