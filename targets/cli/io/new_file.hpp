// SPDX-License-Identifier: Apache-2.0
// A file that appears whole or not at all: it is written beside its place and renamed. Without
// put_in_place() the destructor leaves an existing file as it was.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "converter/files/temporary_file.hpp"

namespace embert::cli {

/// convert::output_target(), with a UsageError.
std::filesystem::path output_target(const std::filesystem::path& path);

class NewFile {
 public:
  /// Throws UsageError if the file cannot be written.
  explicit NewFile(const std::string& path);

  /// Throws WriteError.
  void append(std::span<const uint8_t> bytes);
  /// Writes over the first bytes. Throws WriteError.
  void overwrite_start(std::span<const uint8_t> bytes);
  /// The last call. Throws WriteError.
  void put_in_place();

 private:
  [[noreturn]] void fail(const char* what, int error) const;

  std::string path_;
  std::optional<convert::TemporaryFile> file_;  // always, once constructed
};

}  // namespace embert::cli
