// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/convert/converter_input.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "converter/files/folder_names.hpp"

namespace embert::hosted {
namespace {

namespace fs = std::filesystem;

/// The converter may read files with these extensions from a model folder.
constexpr std::array<const char*, 4> kInputExtensions = {".safetensors", ".json", ".txt", ".model"};
/// Down to 1_Pooling/config.json a file is known by all its names, as the folder may hold links.
constexpr int kInputDepth = 1;

bool may_be_input(const fs::path& file) {
  const std::string extension = file.extension().string();
  return std::find(kInputExtensions.begin(), kInputExtensions.end(), extension) !=
         kInputExtensions.end();
}

bool is_inside(const fs::path& file, const fs::path& folder) {
  std::error_code error;
  const fs::path inner =
      fs::canonical(file, error).lexically_relative(fs::canonical(folder, error));
  return !inner.empty() && *inner.begin() != "..";
}

/// Whether the output is one of the folder's files under any name, down to `depth` folders.
bool is_input(const fs::path& output, const fs::path& folder, int depth) {
  std::error_code error;
  const std::vector<std::string> names = convert::folder_names(folder);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const fs::path entry = folder / name;
    return (may_be_input(entry) && fs::equivalent(output, entry, error)) ||
           (depth > 0 && is_input(output, entry, depth - 1));
  });
}

}  // namespace

bool is_folder_input(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(path, error) &&
         ((may_be_input(path) && is_inside(path, folder)) || is_input(path, folder, kInputDepth));
}

}  // namespace embert::hosted
