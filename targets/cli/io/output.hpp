// SPDX-License-Identifier: Apache-2.0
// Buffered stdout and JSON Lines; write failures throw.
#pragma once

#include <string>
#include <string_view>

#include "targets/cli/tool_error.hpp"
#include "targets/hosted/line_text.hpp"

namespace embert::cli {

class Output {
 public:
  /// Appends the text and a line end.
  void line(std::string_view text);
  /// Appends one JSON value on a line. Bytes that are not UTF-8 become U+FFFD.
  void json(const Json& value);
  /// Writes the buffer. Throws OutputClosed if the reader has closed the pipe, InternalError if the
  /// file cannot be written.
  void flush();

 private:
  std::string buffer_;
};

/// The stdout of this process.
Output& output();

/// Writes a line on stderr, as one_line() shows it.
void note(const std::string& text);

}  // namespace embert::cli
