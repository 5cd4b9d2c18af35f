// SPDX-License-Identifier: Apache-2.0
// Parses the command line and leaves texts unchanged. CLI11 alone would split an argument in square
// brackets into a list, and end a subcommand at "++", or at "--" where texts are optional.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace embert::cli {

/// The option that takes texts. It gets them as parse_command_line() marks them, so that it can
/// tell a "-" behind "--", which is a text.
inline constexpr const char* kTextArguments = "TEXT";
/// The argument that the user wrote.
std::string without_mark(const std::string& value);

/// Adds what all subcommands have: --quiet, and help that fits the terminal.
void add_common_options(CLI::App& app);

/// The subcommand with this name, such as {"device", "serve"}; without words the tool itself.
/// Throws UsageError that names the others, and the one that was probably meant.
const CLI::App& command_by_name(const CLI::App& app, const std::vector<std::string>& words);

/// Like app.parse(argc, argv), which runs the subcommand's callback. All arguments after "--" are
/// texts. Throws UsageError for a subcommand or an option that does not exist, with the one that
/// was probably meant.
void parse_command_line(CLI::App& app, int argc, char** argv);

/// The subcommand of the last parse whose help explains the call, such as "embert device serve".
std::string used_command(const CLI::App& app);

}  // namespace embert::cli
