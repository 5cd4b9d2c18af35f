// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/usage/command_tree.hpp"

#include <CLI/CLI.hpp>
#include <array>

namespace embert::cli {
namespace {

/// CLI11 shows a choice as "NAME:{a,b}" behind the value's name, and a range as "N:INT in [1 - 9]".
void read_type(const std::string& type, OptionEntry& entry) {
  const size_t colon = type.find(':');
  entry.value = type.substr(0, colon);
  const size_t begin = type.find('{'), end = type.rfind('}');
  if (colon == std::string::npos || begin == std::string::npos || end == std::string::npos) return;
  entry.choices = CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

OptionEntry entry_of(const CLI::Option& option) {
  OptionEntry entry;
  if (!option.get_snames().empty()) entry.short_name = "-" + option.get_snames().front();
  if (!option.get_lnames().empty()) entry.long_name = "--" + option.get_lnames().front();
  if (option.get_positional()) entry.long_name = option.get_name(true);
  if (option.get_type_size() != 0) read_type(option.get_type_name(), entry);
  entry.standard = option.get_default_str();
  entry.description = option.get_description();
  entry.required = option.get_required();
  return entry;
}

void add_entries(const CLI::App& app, const std::string& name, std::vector<CommandEntry>& tree) {
  tree.push_back(command_entry(app));
  tree.back().name = name;
  for (const CLI::App* command : subcommands_of(app)) {
    add_entries(*command, (name.empty() ? "" : name + " ") + command->get_name(), tree);
  }
}

}  // namespace

bool OptionEntry::takes_path() const {
  constexpr std::array<const char*, 3> kPaths = {"FILE", "MODEL", "HF_DIR"};
  for (const char* path : kPaths) {
    if (value == path || long_name == path) return true;
  }
  return false;
}

std::vector<std::string> CommandEntry::option_names() const {
  std::vector<std::string> names;
  for (const OptionEntry& option : options) {
    if (!option.short_name.empty()) names.push_back(option.short_name);
    if (!option.long_name.empty()) names.push_back(option.long_name);
  }
  return names;
}

CommandEntry command_entry(const CLI::App& command) {
  CommandEntry entry;
  entry.name = command.get_name();
  entry.description = command.get_description();
  entry.footer = command.get_footer();
  entry.has_subcommands = !subcommands_of(command).empty();
  for (const CLI::Option* option : command.get_options()) {
    (option->get_positional() ? entry.arguments : entry.options).push_back(entry_of(*option));
  }
  return entry;
}

std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<CommandEntry> command_tree(const CLI::App& app) {
  std::vector<CommandEntry> tree;
  add_entries(app, "", tree);
  return tree;
}

}  // namespace embert::cli
