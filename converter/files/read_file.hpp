// SPDX-License-Identifier: Apache-2.0
// The one way to read a file whole: a regular file, of limited size, into memory that no other
// process can change.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "converter/convert_error.hpp"

namespace embert::convert {

/// The size limit of files with a text a line.
inline constexpr std::uint64_t kMostTextBytes = std::uint64_t{256} << 20;

/// A regular file, open for reading.
class OpenFile {
 public:
  /// `name` stands in messages. Throws ConvertError if the file cannot be opened, is not regular,
  /// has more than `max_bytes`, or is a Git LFS pointer in place of the file.
  OpenFile(const std::filesystem::path& path, std::string name, std::uint64_t max_bytes);
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int descriptor() const { return descriptor_; }
  std::uint64_t bytes() const { return bytes_; }
  /// The first bytes, at most 512.
  std::string_view beginning() const { return beginning_; }
  /// Fills `to` [bytes()] with the contents. Throws ConvertError if the file cannot be read or
  /// became shorter.
  void read(std::span<std::uint8_t> to) const { read_at(0, to); }
  /// Fills `to` with the bytes from `offset` on. Throws as read().
  void read_at(std::uint64_t offset, std::span<std::uint8_t> to) const;

 private:
  std::string name_;
  int descriptor_;
  std::uint64_t bytes_ = 0;
  std::string beginning_;
};

/// The contents of a file; the arguments are those of OpenFile.
std::string read_file(const std::filesystem::path& path, const std::string& name,
                      std::uint64_t max_bytes);

/// More ends of lines are refused: a string takes 32 bytes for a line of one.
inline constexpr std::ptrdiff_t kMostLines = std::ptrdiff_t{1} << 24;

/// The lines of a text without their ends ("\n" or "\r\n"). Throws ConvertError, whose message
/// begins with `name`, for more than kMostLines.
std::vector<std::string> split_lines(std::string_view text, const std::string& name);

}  // namespace embert::convert
