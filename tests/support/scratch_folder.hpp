// SPDX-License-Identifier: Apache-2.0
// A folder for the files of a test.
#pragma once

#include <string>
#include <vector>

namespace embert::test {

/// A temporary folder, removed by the destructor.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  /// Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& bytes) const;
  /// The names of the files, sorted.
  std::vector<std::string> names() const;

 private:
  std::string folder_;
};

std::string read_bytes(const std::string& path);

}  // namespace embert::test
