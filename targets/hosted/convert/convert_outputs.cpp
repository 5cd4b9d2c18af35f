// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/convert/convert_outputs.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "converter/export/replace_file.hpp"
#include "converter/files/folder_names.hpp"
#include "converter/files/output_target.hpp"
#include "targets/hosted/hosted_error.hpp"
#include "targets/hosted/line_text.hpp"

namespace embert::hosted {
namespace {

namespace fs = std::filesystem;

/// The converter may read files with these extensions from a model folder.
constexpr std::array<const char*, 4> kInputExtensions = {".safetensors", ".json", ".txt", ".model"};
/// Down to 1_Pooling/config.json a file is known by all its names, as the folder may hold links.
constexpr int kInputDepth = 1;

bool same_file(const fs::path& one, const fs::path& other) {
  std::error_code error;
  return fs::equivalent(one, other, error) && !error;
}

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
  const std::vector<std::string> names = convert::folder_names(folder);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const fs::path entry = folder / name;
    return (may_be_input(entry) && same_file(output, entry)) ||
           (depth > 0 && is_input(output, entry, depth - 1));
  });
}

void check_output(const std::string& path, const ConvertPaths& paths) {
  fs::path target;  // the file that is written: "x/../m.emb" is m.emb, whether there is x or not
  try {
    convert::check_output_path(path);
    target = convert::output_target(path);
  } catch (const convert::ConvertError& error) {
    throw WriteError(error.what());
  }
  if (is_folder_input(target, paths.folder)) {
    throw UsageError(quoted_path(path) + ": is a file of the model folder, which is read; give " +
                     "another output");
  }
  for (const auto& input : {paths.calibration, paths.calibration_ids}) {
    if (input && same_file(target, *input) && !fs::is_character_file(target)) {
      throw UsageError(quoted_path(path) + ": is the calibration file; give another output");
    }
  }
  if (const auto& input = paths.keep_vocabulary;
      input && same_file(target, *input) && !fs::is_character_file(target)) {
    throw UsageError(quoted_path(path) + ": is the file of --keep-vocabulary; give another output");
  }
}

}  // namespace

bool is_folder_input(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(path, error) &&
         ((may_be_input(path) && is_inside(path, folder)) || is_input(path, folder, kInputDepth));
}

void check_outputs(const ConvertPaths& paths) {
  check_output(paths.model, paths);
  if (!paths.report) return;
  check_output(*paths.report, paths);
  std::error_code error;
  if (fs::is_character_file(paths.model, error)) return;
  if (convert::output_target(paths.model) == convert::output_target(*paths.report) ||
      same_file(paths.model, *paths.report)) {
    throw UsageError("-o and --report: both are " + quoted_path(*paths.report) +
                     "; give two files");
  }
}

}  // namespace embert::hosted
