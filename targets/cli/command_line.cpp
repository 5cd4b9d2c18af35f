// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

namespace embert::cli {
namespace {

/// Protects an argument from CLI11's interpretation. The option that takes the argument removes it.
constexpr char kMark = '\1';

bool needs_mark(const std::string& argument) {
  return argument == "++" || (!argument.empty() && (argument[0] == '[' || argument[0] == kMark));
}

}  // namespace

std::string without_mark(const std::string& value) {
  return !value.empty() && value[0] == kMark ? value.substr(1) : value;
}

void parse_command_line(CLI::App& app, int argc, char** argv) {
  for (CLI::App* command : app.get_subcommands({})) {
    for (CLI::Option* option : command->get_options()) {
      if (option->get_name() != kTextArguments) option->transform(without_mark);
    }
  }
  std::vector<std::string> arguments;
  bool after_dashes = false;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (!after_dashes && argument == "--") {
      after_dashes = true;
      continue;
    }
    if (after_dashes || needs_mark(argument)) argument.insert(argument.begin(), kMark);
    arguments.push_back(std::move(argument));
  }
  app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
}

}  // namespace embert::cli
