// SPDX-License-Identifier: Apache-2.0
// embert help: the options of a subcommand, or all of them as a manual page.
#include <CLI/CLI.hpp>
#include <memory>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/cli/usage/command_line.hpp"
#include "targets/cli/usage/manual.hpp"

namespace embert::cli {
namespace {

struct HelpOptions {
  std::vector<std::string> words;  ///< "device serve"
  bool manual = false;
};

void run_help(const CLI::App& app, const HelpOptions& options) {
  if (options.manual) {
    if (!options.words.empty()) throw UsageError("--manual has all commands: give no COMMAND");
    return output().line(manual_page(app));
  }
  const CLI::App& command = command_by_name(app, options.words);
  std::string name = app.get_name();
  for (const std::string& word : options.words) name += " " + word;
  // App::help() would explain the subcommand of the call, which is `help`.
  std::string text = command.get_formatter()->make_help(&command, name, CLI::AppFormatMode::Normal);
  while (text.ends_with('\n')) text.pop_back();
  output().line(text);
}

}  // namespace

void add_help_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("help", "Explain a command");
  auto options = std::make_shared<HelpOptions>();
  command->add_option("COMMAND", options->words, "Its name, such as classify or device serve")
      ->type_name("");
  command->add_flag("--manual", options->manual, "All commands as a manual page, for man -l");
  add_output_option(*command);
  command->footer(
      "Example:\n"
      "  embert help classify\n"
      "  embert help --manual | man -l -");
  command->callback([&app, options] { run_help(app, *options); });
}

}  // namespace embert::cli
