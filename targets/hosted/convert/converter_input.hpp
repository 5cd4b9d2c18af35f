// SPDX-License-Identifier: Apache-2.0
// The files that a conversion may read. The tool asks in builds without the converter, too.
#pragma once

#include <filesystem>

namespace embert::hosted {

/// Whether `path` is a file that the converter may read from the model folder, directly or by a
/// link.
bool is_folder_input(const std::filesystem::path& path, const std::filesystem::path& folder);

}  // namespace embert::hosted
