// SPDX-License-Identifier: Apache-2.0
// embert completion: a script with which a shell completes the tool's command line.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "targets/cli/commands/commands.hpp"
#include "targets/cli/io/output.hpp"
#include "targets/cli/usage/completion.hpp"

namespace embert::cli {

void add_completion_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("completion", "Write a script that completes commands in a shell");
  auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(
          CLI::IsMember(std::vector<std::string>(kShells.begin(), kShells.end())).description(""))
      ->type_name("");
  add_output_option(*command);
  command->footer(
      "Example:\n"
      "  embert completion bash > ~/.local/share/bash-completion/completions/embert\n"
      "  embert completion zsh > ~/.zfunc/_embert\n"
      "  embert completion fish > ~/.config/fish/completions/embert.fish");
  command->callback([&app, shell] {
    output().line(*shell == "bash"  ? bash_completion(app)
                  : *shell == "zsh" ? zsh_completion(app)
                                    : fish_completion(app));
  });
}

}  // namespace embert::cli
