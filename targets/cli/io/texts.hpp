// SPDX-License-Identifier: Apache-2.0
// The texts of a command: its arguments, or the lines of stdin where there are none. A text may be
// any bytes, and an empty line is a text.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace embert::cli {

/// The positional TEXT... argument.
void add_text_arguments(CLI::App& command, std::vector<std::string>& texts,
                        const std::string& description);

class TextSource {
 public:
  /// Arguments; stdin where there are none.
  explicit TextSource(std::vector<std::string> arguments);

  /// The next texts, at most `most`: those that are there without waiting, but at least one. Empty
  /// at the end. So lines typed one by one are answered one by one, and a file goes in full
  /// batches.
  std::vector<std::string> next(size_t most);

 private:
  bool take_line(std::string& line);
  bool read_more();

  std::vector<std::string> arguments_;
  size_t next_argument_ = 0;
  bool from_stdin_;
  bool at_end_ = false;
  std::string buffer_;
  size_t start_ = 0;    ///< of the first line that was not taken
  size_t scanned_ = 0;  ///< no line end in [start_, scanned_)
};

}  // namespace embert::cli
