// SPDX-License-Identifier: Apache-2.0
// Buffered stdout and JSON Lines; write failures throw.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace embert::cli {

/// Keys keep the order in which they are set.
using Json = nlohmann::ordered_json;

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

/// Makes `text` safe for one line and one column of a table: control characters (C0, DEL, C1),
/// which a terminal may obey, and bytes that are not well-formed UTF-8 become '?'.
std::string one_line(std::string_view text);

/// Formats a path for the start of a message: on one line, and as "" if it is empty.
std::string quoted_path(const std::string& path);

/// Formats a number as printf("%.*f") does.
std::string fixed(double value, int decimals);

/// Formats 1234567 as "1,234,567".
std::string grouped(unsigned long long value);

}  // namespace embert::cli
