// SPDX-License-Identifier: Apache-2.0
// Where an output's path leads to.
#pragma once

#include <filesystem>

namespace embert::convert {

/// The file that `path` leads to through symbolic links, whether it exists or not, so that the link
/// stays. Throws ConvertError where links lead in a circle.
std::filesystem::path output_target(const std::filesystem::path& path);

}  // namespace embert::convert
