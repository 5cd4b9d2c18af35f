// SPDX-License-Identifier: Apache-2.0
// The names in a folder. Where the iterators of std::filesystem find no memory, the program ends:
// libstdc++ advances them in functions that are noexcept.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace embert::convert {

/// In the order of the file system, without "." and ".."; none of what is no folder or cannot be
/// read.
std::vector<std::string> folder_names(const std::filesystem::path& folder);

}  // namespace embert::convert
