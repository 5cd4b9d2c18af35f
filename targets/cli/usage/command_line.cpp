// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/usage/command_line.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "targets/cli/io/messages.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/cli/usage/command_tree.hpp"
#include "targets/cli/usage/suggestion.hpp"
#include "targets/hosted/line_text.hpp"

namespace embert::cli {
namespace {

/// Protects an argument from CLI11's interpretation. The option that takes the argument removes it.
constexpr char kMark = '\1';

bool needs_mark(const std::string& argument) {
  return argument == "++" || (!argument.empty() && (argument[0] == '[' || argument[0] == kMark));
}

/// Help whose descriptions are wrapped to the width of the terminal.
class WrappedHelp : public CLI::Formatter {
 public:
  explicit WrappedHelp(size_t width) : width_(width) { column_width(kColumn); }

  std::string make_option_desc(const CLI::Option* option) const override {
    const size_t room = std::max(kLeastWidth, width_ - std::min(width_, kColumn));
    return wrapped(CLI::Formatter::make_option_desc(option), room);
  }
  /// Remarks are wrapped, examples are left as they can be copied.
  std::string make_footer(const CLI::App* command) const override {
    std::string result, line;
    std::istringstream lines(CLI::Formatter::make_footer(command));
    while (std::getline(lines, line)) {
      const bool is_remark = line.size() > width_ && line.front() != ' ';
      result += (is_remark ? wrapped(line, width_) : line) + '\n';
    }
    return result;
  }
  std::string make_subcommand(const CLI::App* command) const override {
    std::string name = "  " + command->get_name();
    name.resize(std::max(name.size() + 1, kCommandColumn), ' ');
    return name + command->get_description() + "\n";
  }

 private:
  static constexpr size_t kColumn = 30, kCommandColumn = 20, kLeastWidth = 20;

  static std::string wrapped(const std::string& text, size_t room) {
    std::string result, word;
    size_t line = 0;
    std::istringstream words(text);
    while (words >> word) {
      if (line > 0 && line + 1 + word.size() > room) {
        result += '\n';
        line = 0;
      }
      result += (line > 0 ? " " : "") + word;
      line += (line > 0 ? 1 : 0) + word.size();
    }
    return result;
  }

  size_t width_;
};

bool has_subcommands(const CLI::App& app) { return !subcommands_of(app).empty(); }

/// A word without control characters, in quotes.
std::string shown(const std::string& word) { return '"' + hosted::one_line(word) + '"'; }

/// Names the subcommands if there is none or a wrong one. CLI11's own messages do not.
void check_subcommands(const CLI::App& app, const std::vector<std::string>& arguments) {
  std::vector<std::string> words;
  for (const std::string& word : arguments) {
    if (!has_subcommands(command_by_name(app, words))) return;
    if (word[0] == '-') return;
    words.push_back(word);
  }
  const CLI::App& command = command_by_name(app, words);
  if (!has_subcommands(command)) return;
  std::string known;
  for (const CLI::App* one : subcommands_of(command)) {
    known += (known.empty() ? "" : ", ") + one->get_name();
  }
  throw UsageError("a subcommand is missing; there are " + known);
}

/// Throws UsageError for the first option that the used subcommand does not have.
void refuse_extras(const CLI::App& app) {
  const CLI::App* used = &app;
  while (!used->get_subcommands().empty()) used = used->get_subcommands().front();
  const CommandEntry entry = command_entry(*used);
  for (const std::string& word : used->remaining()) {
    if (word.size() < 2 || word[0] != '-') continue;
    const std::string suggestion = did_you_mean(word, entry.option_names());
    throw UsageError(
        used_command(app) + " has no option " + shown(word) +
        (suggestion.empty() ? "; `" + used_command(app) + " --help` has the options" : suggestion));
  }
}

}  // namespace

void add_common_options(CLI::App& app) {
  app.formatter(std::make_shared<WrappedHelp>(terminal_width(STDOUT_FILENO)));
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    add_common_options(*command);
    if (has_subcommands(*command)) continue;
    command->add_flag_callback("-q,--quiet", be_quiet, "No notes and no progress on stderr");
  }
}

const CLI::App& command_by_name(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* found = &app;
  for (const std::string& word : words) {
    std::vector<std::string> known;
    const CLI::App* next = nullptr;
    for (const CLI::App* command : subcommands_of(*found)) {
      known.push_back(command->get_name());
      if (command->get_name() == word) next = command;
    }
    if (next == nullptr) {
      std::string list;
      for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
      const std::string suggestion = did_you_mean(word, known);
      throw UsageError("unknown subcommand " + shown(word) + suggestion +
                       (suggestion.empty() ? "; there are " : " There are ") + list);
    }
    found = next;
  }
  return *found;
}

std::string used_command(const CLI::App& app) {
  const std::vector<CLI::App*> used = app.get_subcommands();
  return app.get_name() + (used.empty() ? "" : " " + used_command(*used.front()));
}

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
  check_subcommands(app, arguments);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success&) {  // --help or --version
    throw;
  } catch (const CLI::ParseError&) {
    refuse_extras(app);
    throw;
  }
}

}  // namespace embert::cli
