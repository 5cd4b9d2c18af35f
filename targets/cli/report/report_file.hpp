// SPDX-License-Identifier: Apache-2.0
// The option --report FILE: a page if the name ends in .html, else JSON.
#pragma once

#include <string>

#include "targets/hosted/line_text.hpp"

namespace CLI {
class App;
}

namespace embert::cli {

inline constexpr const char* kReportHelp =
    "Write a report: a page for the browser if the name ends in .html, else JSON";

bool is_page(const std::string& path);

/// The content of the file. `command` as in report_page().
std::string report_text(const std::string& path, const std::string& command,
                        const hosted::Json& data);

/// Adds --report to a command. None of the files that the call names can be the report.
void add_report_option(CLI::App& command, std::string& path);

/// Called before the work. Throws UsageError for a file that cannot be written or is one of
/// `folder`.
void check_report(const std::string& path, const std::string& folder);

}  // namespace embert::cli
