// SPDX-License-Identifier: Apache-2.0
// Temporary files beside an output, which are renamed to it when they are whole.
#pragma once

#include <filesystem>

namespace embert::convert {

struct TemporaryFile {
  int descriptor;  ///< open for writing; -1: errno says why there is none
  std::filesystem::path name;
};

/// Makes a new file in the folder, named ".embert-PROCESS-NUMBER.tmp", so that the output may have
/// the longest name that there is. It is locked (flock) until it is closed. First removes the
/// temporary files there that nobody locks: those of programs that were killed.
TemporaryFile open_temporary(const std::filesystem::path& folder);

}  // namespace embert::convert
