// SPDX-License-Identifier: Apache-2.0
// The results: buffered lines on stdout, or in the file of --output. Write failures throw.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "targets/cli/io/new_file.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/hosted/line_text.hpp"

namespace embert::cli {

class Output {
 public:
  /// Sends the lines into a file, which appears whole when finish() is called; "-": to stdout.
  /// Throws UsageError if the file cannot be written.
  void open(const std::string& path);
  /// Appends lines with their ends.
  void text(std::string_view lines);
  /// Appends the text and a line end.
  void line(std::string_view text);
  /// Appends one JSON value on a line. Bytes that are not UTF-8 become U+FFFD.
  void json(const Json& value);
  /// Writes the buffer. Throws OutputClosed if the reader has closed the pipe, InternalError if
  /// stdout cannot be written, WriteError for the file.
  void flush();
  /// Makes the results visible: the last call of a run without an error, or before the error of a
  /// verdict that fails.
  void finish();
  /// Removes the unfinished file; what is flushed from now on goes to stdout.
  void discard() { file_.reset(); }

  bool is_on_terminal() const;

 private:
  std::string buffer_;
  std::optional<NewFile> file_;
};

/// That of this process.
Output& output();

/// Throws UsageError if another argument of the call names the file that --`option` writes.
void check_is_no_input(const CLI::App& command, const std::string& option, const std::string& path);

/// Adds -o, --output FILE. A file that the call reads is refused.
void add_output_option(CLI::App& command);

}  // namespace embert::cli
