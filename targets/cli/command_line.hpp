// SPDX-License-Identifier: Apache-2.0
// Parses the command line and leaves texts unchanged. CLI11 alone would split an argument in square
// brackets into a list, and end a subcommand at "++", or at "--" where texts are optional.
#pragma once

namespace CLI {
class App;
}

namespace embert::cli {

/// Like app.parse(argc, argv), which runs the subcommand's callback. All arguments after "--" are
/// texts.
void parse_command_line(CLI::App& app, int argc, char** argv);

}  // namespace embert::cli
