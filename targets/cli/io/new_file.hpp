// SPDX-License-Identifier: Apache-2.0
// A file that appears whole or not at all: it is written beside its place and renamed.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace embert::cli {

class NewFile {
 public:
  /// Throws UsageError if the file cannot be written.
  explicit NewFile(const std::string& path);
  /// Leaves an existing file as it was unless put_in_place() was called.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// Throws WriteError.
  void append(std::span<const uint8_t> bytes);
  /// Writes over the first bytes. Throws WriteError.
  void overwrite_start(std::span<const uint8_t> bytes);
  /// The last call. Throws WriteError.
  void put_in_place();

 private:
  [[noreturn]] void fail(const char* what, int error) const;

  std::string path_, temporary_;
  int file_ = -1;
};

}  // namespace embert::cli
