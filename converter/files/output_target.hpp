// SPDX-License-Identifier: Apache-2.0
// output_target() follows an output's symbolic links, so that a writer replaces the file and keeps
// the links; output_error() is what becomes of an output that cannot be written.
#pragma once

#include <filesystem>

namespace embert::convert {

/// The file that `path` leads to through symbolic links, whether it exists or not, so that the link
/// stays. Throws ConvertError where links lead in a circle.
std::filesystem::path output_target(const std::filesystem::path& path);

/// Throws ConvertError "PATH: cannot WHAT: ERROR", error as in errno.
[[noreturn]] void output_error(const std::filesystem::path& path, const char* what, int error);

}  // namespace embert::convert
