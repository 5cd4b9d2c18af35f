// SPDX-License-Identifier: Apache-2.0
// Temporary files beside an output, which are renamed to it when they are whole.
#pragma once

#include <filesystem>

namespace embert::convert {

/// A new file in a folder, removed with the object unless it was renamed. Its name is
/// ".embert-PROCESS-NUMBER.tmp", so that the output may have the longest name that there is. It is
/// open and locked (flock) as long as the object lives, so that no other program removes it before
/// it is renamed.
class TemporaryFile {
 public:
  /// First removes the temporary files of the folder that nobody locks: those of programs that were
  /// killed. Where no file can be made, descriptor() is -1 and errno says why.
  explicit TemporaryFile(const std::filesystem::path& folder);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// Removes all files of this process that were not renamed: for a program that ends without
  /// destructors. Allocates nothing.
  static void remove_all();

  /// Open for writing.
  int descriptor() const { return descriptor_; }
  const std::filesystem::path& name() const { return name_; }
  /// Writes the bytes to the disk: some file systems report a full disk only then. Returns 0 or
  /// errno.
  int sync();
  /// Returns 0 or errno.
  int rename_to(const std::filesystem::path& path);

 private:
  std::filesystem::path name_;  // empty: nothing to remove
  int descriptor_ = -1;
  TemporaryFile* before_ = nullptr;  // in the list of all files of this process
};

}  // namespace embert::convert
