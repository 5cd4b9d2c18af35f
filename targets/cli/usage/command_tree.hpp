// SPDX-License-Identifier: Apache-2.0
// The subcommands with their options, read from the command line that the tool parses. Help,
// completion, manual and suggestions are made of it, so none can lack an option.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace embert::cli {

struct OptionEntry {
  std::string short_name, long_name;  ///< "-o", "--output"; of an argument the name alone
  std::string value;                  ///< of what it takes, such as "FILE"; empty: it is a flag
  std::string standard;               ///< the default's text; empty: none is shown
  std::string description;
  std::vector<std::string> choices;  ///< the words that it takes; empty: any
  bool required = false;

  /// Whether its value is a file or a folder.
  bool takes_path() const;
};

struct CommandEntry {
  std::string name;  ///< "classify" or "device serve"; empty: the tool itself
  std::string description;
  std::string footer;  ///< remarks and examples
  std::vector<OptionEntry> options;
  std::vector<OptionEntry> arguments;  ///< by position
  bool has_subcommands = false;

  /// "--help", "-h", ...
  std::vector<std::string> option_names() const;
};

/// In the order of --help.
std::vector<const CLI::App*> subcommands_of(const CLI::App& app);
/// A command without its subcommands; its name is the last word.
CommandEntry command_entry(const CLI::App& command);
/// The tool and all its subcommands, each followed by its own ones.
std::vector<CommandEntry> command_tree(const CLI::App& app);

}  // namespace embert::cli
