// SPDX-License-Identifier: Apache-2.0
// Writes output files whole or not at all: each into a temporary file beside it; when all are
// written and synced, they are renamed over the outputs. After any failure before that the old
// files are still there and the temporary ones are gone. A process that is killed leaves temporary
// files; the next run removes them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "converter/convert_error.hpp"

namespace embert::convert {

/// Throws ConvertError where `path` cannot be an output: no such directory, not writable, a
/// directory, a pipe or a socket. Call it before the work begins; room on the disk is not checked.
void check_output_path(const std::filesystem::path& path);

struct OutputFile {
  std::filesystem::path path;
  std::span<const std::uint8_t> bytes;
};

/// An existing file keeps its permissions, a symbolic link stays one, and a device (/dev/null) is
/// written to. Throws ConvertError.
void replace_files(std::span<const OutputFile> files);
void replace_file(const std::filesystem::path& path, std::span<const std::uint8_t> bytes);

}  // namespace embert::convert
