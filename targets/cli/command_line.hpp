// SPDX-License-Identifier: Apache-2.0
// Parses the command line and leaves texts unchanged. CLI11 alone would split an argument in square
// brackets into a list, and end a subcommand at "++", or at "--" where texts are optional.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace embert::cli {

/// The option that takes texts. It gets them as parse_command_line() marks them, so that it can
/// tell a "-" behind "--", which is a text.
inline constexpr const char* kTextArguments = "TEXT";
/// The argument that the user wrote.
std::string without_mark(const std::string& value);

/// Like app.parse(argc, argv), which runs the subcommand's callback. All arguments after "--" are
/// texts.
void parse_command_line(CLI::App& app, int argc, char** argv);

}  // namespace embert::cli
