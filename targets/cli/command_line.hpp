// SPDX-License-Identifier: Apache-2.0
// Parsing with texts left as they are: CLI11 splits an argument in square brackets into a list,
// takes "++" for the end of a subcommand, and "--" for its end where texts are optional.
#pragma once

namespace CLI {
class App;
}

namespace embert::cli {

/// As app.parse(argc, argv), which runs the subcommand's callback. Behind "--" everything is text.
void parse_command_line(CLI::App& app, int argc, char** argv);

}  // namespace embert::cli
