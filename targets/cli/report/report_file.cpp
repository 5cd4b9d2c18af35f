// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/report/report_file.hpp"

#include <CLI/CLI.hpp>

#include "targets/cli/io/output.hpp"
#include "targets/cli/report/report_page.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/hosted/convert/convert_outputs.hpp"

namespace embert::cli {

bool is_page(const std::string& path) { return path.ends_with(".html"); }

std::string report_text(const std::string& path, const std::string& command, const Json& data) {
  return is_page(path) ? report_page(command, data) : pretty_json(data);
}

void add_report_option(CLI::App& command, std::string& path) {
  command
      .add_option_function<std::string>(
          "--report",
          [&command, &path](const std::string& value) {
            check_is_no_input(command, "report", value);
            path = value;
          },
          kReportHelp)
      ->type_name("FILE");
}

void check_report(const std::string& path, const std::string& folder) {
  if (path.empty() || path == "-") {
    throw UsageError("--report " + quoted_path(path) + ": expected the name of a file");
  }
  ConvertPaths paths;
  paths.folder = folder;
  paths.model = path;
  try {
    check_outputs(paths);
  } catch (const WriteError& error) {
    throw UsageError(error.what());
  }
}

}  // namespace embert::cli
