// SPDX-License-Identifier: Apache-2.0
// output_target() follows an output's symbolic links, so that a writer replaces the file and keeps
// the links.
#pragma once

#include <filesystem>

namespace embert::convert {

/// The file that `path` leads to through symbolic links, whether it exists or not, so that the link
/// stays. Throws ConvertError where links lead in a circle.
std::filesystem::path output_target(const std::filesystem::path& path);

}  // namespace embert::convert
