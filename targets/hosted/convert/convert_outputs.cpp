// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/convert/convert_outputs.hpp"

#include <filesystem>
#include <string>

#include "converter/export/replace_file.hpp"
#include "converter/files/output_target.hpp"
#include "targets/hosted/convert/converter_input.hpp"
#include "targets/hosted/hosted_error.hpp"
#include "targets/hosted/line_text.hpp"

namespace embert::hosted {
namespace {

namespace fs = std::filesystem;

bool same_file(const fs::path& one, const fs::path& other) {
  std::error_code error;
  return fs::equivalent(one, other, error) && !error;
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
