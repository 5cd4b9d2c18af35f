// SPDX-License-Identifier: Apache-2.0
// The texts of a command: its arguments, or without arguments the lines of stdin. A text may be any
// bytes, and an empty line is a text.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

namespace embert::cli {

/// Adds the positional TEXT... argument.
void add_text_arguments(CLI::App& command, std::vector<std::string>& texts,
                        const std::string& description);

/// The longest line of stdin, without --max-line-bytes.
inline constexpr size_t kMaxLineBytes = size_t{16} << 20;

/// Adds --max-line-bytes.
void add_line_limit(CLI::App& command, size_t& max_line_bytes);

class TextSource {
 public:
  /// Without arguments it reads stdin.
  TextSource(std::vector<std::string> arguments, size_t max_line_bytes);

  /// Returns the next texts, at most `most`: all that are available without waiting, but at least
  /// one; none at the end. So lines typed one by one are answered one by one, while a file is read
  /// in full batches. Throws InputError for a line of more than max_line_bytes, after the lines
  /// before it were returned.
  std::vector<std::string> next(size_t most);
  /// The share of the texts that next() has returned, 0 to 1; nothing for a stdin that is no file.
  std::optional<double> share_read() const;

 private:
  bool take_line(std::string& line);
  bool is_line_too_long() const;
  bool read_more();

  std::vector<std::string> arguments_;
  size_t next_argument_ = 0;
  bool from_stdin_;
  size_t max_line_bytes_;
  size_t lines_ = 0;       ///< returned by take_line()
  size_t read_bytes_ = 0;  ///< of stdin
  bool at_end_ = false;
  std::string buffer_;
  size_t start_ = 0;    ///< start of the first line that take_line() has not returned
  size_t scanned_ = 0;  ///< [start_, scanned_) has no line end
};

}  // namespace embert::cli
