// SPDX-License-Identifier: Apache-2.0
// Writing an output file whole or not at all: into a temporary file beside it, synced, then renamed
// over it. Whatever fails, the file that was there before survives and no temporary file stays,
// also when SIGINT, SIGTERM or SIGHUP come in between: they take effect once it is gone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "converter/convert_error.hpp"

namespace embert::convert {

/// The file that `path` leads to through symbolic links, whether it exists or not, so that the link
/// stays. Throws ConvertError where links lead in a circle.
std::filesystem::path output_target(const std::filesystem::path& path);

/// Throws ConvertError where `path` cannot be an output: no such directory, not writable, a
/// directory, a pipe or a socket. For use before the work begins; says nothing about room on the
/// disk.
void check_output_path(const std::filesystem::path& path);

/// Puts `bytes` at `path`. An existing file keeps its permissions, a symbolic link stays one, and a
/// device (/dev/null) is written to. Throws ConvertError.
void replace_file(const std::filesystem::path& path, std::span<const std::uint8_t> bytes);

}  // namespace embert::convert
