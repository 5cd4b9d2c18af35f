// SPDX-License-Identifier: Apache-2.0
// stdout: buffered lines, JSON Lines, and an end for every way in which writing can fail.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace embert::cli {

/// Keys keep the order in which they are set.
using Json = nlohmann::ordered_json;

class Output {
 public:
  /// Text and a line end.
  void line(std::string_view text);
  /// One JSON value on a line. Bytes that are not UTF-8 become U+FFFD.
  void json(const Json& value);
  /// Writes what is buffered. Throws OutputClosed where the reader has gone, InternalError where
  /// the file cannot be written.
  void flush();
  /// flush() at the end of a successful run.
  void finish() { flush(); }

 private:
  std::string buffer_;
};

/// The process has one.
Output& output();

/// A line on stderr; one_line() is applied to it.
void note(const std::string& text);

/// `text` on one line and in one column of a table: control characters (C0, DEL, C1), which a
/// terminal may obey, and bytes that are not well-formed UTF-8 become '?'.
std::string one_line(std::string_view text);

/// A path as a message begins with it: on one line, and "" where it is empty.
std::string quoted_path(const std::string& path);

/// A number as printf("%.*f") writes it.
std::string fixed(double value, int decimals);

/// 1234567 as "1,234,567".
std::string grouped(unsigned long long value);

}  // namespace embert::cli
