// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/usage/completion.hpp"

#include <string_view>

#include "targets/cli/usage/command_tree.hpp"

namespace embert::cli {
namespace {

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string result;
  for (const std::string& word : words) result += (result.empty() ? "" : between) + word;
  return result;
}

/// In single quotes for a shell.
std::string in_quotes(std::string_view text) {
  std::string result = "'";
  for (const char letter : text) {
    letter == '\'' ? result += "'\\''" : result += letter;
  }
  return result + "'";
}

/// A description as a shell shows it beside a word: up to the first ";".
std::string brief(const std::string& description) {
  return description.substr(0, description.find(';'));
}

/// The first words of subcommands, or the second ones behind `first`.
std::vector<const CommandEntry*> commands_behind(const std::vector<CommandEntry>& tree,
                                                 const std::string& first) {
  std::vector<const CommandEntry*> found;
  for (const CommandEntry& command : tree) {
    const size_t space = command.name.find(' ');
    const bool is_second = space != std::string::npos;
    if (command.name.empty() || is_second == first.empty()) continue;
    if (!is_second || command.name.substr(0, space) == first) found.push_back(&command);
  }
  return found;
}

std::string last_word(const CommandEntry& command) {
  return command.name.substr(command.name.find(' ') + 1);
}

std::vector<std::string> last_words(const std::vector<const CommandEntry*>& commands) {
  std::vector<std::string> words;
  for (const CommandEntry* command : commands) words.push_back(last_word(*command));
  return words;
}

/// The words that a command takes as its argument; none: it takes files and texts.
std::vector<std::string> argument_words(const std::vector<CommandEntry>& tree,
                                        const CommandEntry& command) {
  for (const OptionEntry& argument : command.arguments) {
    if (argument.long_name == "COMMAND") return last_words(commands_behind(tree, ""));
    if (argument.long_name == "SHELL") return {kShells.begin(), kShells.end()};
  }
  return {};
}

std::string both_names(const OptionEntry& option, const char* between) {
  const bool both = !option.short_name.empty() && !option.long_name.empty();
  return option.short_name + (both ? between : "") + option.long_name;
}

std::string bash_case(const CommandEntry& command, const std::vector<std::string>& words) {
  std::string text = "    " + in_quotes(command.name) + ")\n      case \"$before\" in\n";
  for (const OptionEntry& option : command.options) {
    if (option.value.empty()) continue;
    text += "        " + both_names(option, "|") + ") ";
    if (!option.choices.empty()) {
      text +=
          "COMPREPLY=($(compgen -W " + in_quotes(joined(option.choices, " ")) + " -- \"$word\")); ";
    } else if (!option.takes_path()) {
      text += "compopt +o default; ";
    }
    text += "return ;;\n";
  }
  if (!words.empty()) text += "        *) words=" + in_quotes(joined(words, " ")) + " ;;\n";
  return text + "      esac\n      options=" + in_quotes(joined(command.option_names(), " ")) +
         " ;;\n";
}

std::string zsh_escaped(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '[' || letter == ']' || letter == ':' || letter == '\\') result += '\\';
    result += letter;
  }
  return result;
}

std::string zsh_value(const OptionEntry& option) {
  if (option.value.empty()) return "";
  const std::string name = ":" + zsh_escaped(option.value) + ":";
  if (!option.choices.empty()) return name + "(" + joined(option.choices, " ") + ")";
  return option.takes_path() ? name + "_files" : name + " ";
}

std::string zsh_commands(const std::vector<const CommandEntry*>& commands) {
  std::string text;
  for (const CommandEntry* command : commands) {
    text += " " + in_quotes(zsh_escaped(last_word(*command)) + ":" + brief(command->description));
  }
  return text;
}

std::string zsh_case(const CommandEntry& command, const std::vector<std::string>& words) {
  std::string text = "    " + in_quotes(command.name) + ")\n      _arguments -s";
  for (const OptionEntry& option : command.options) {
    for (const std::string& name : {option.short_name, option.long_name}) {
      if (name.empty()) continue;
      text += " \\\n        " +
              in_quotes("(" + both_names(option, " ") + ")" + name + "[" +
                        zsh_escaped(brief(option.description)) + "]" + zsh_value(option));
    }
  }
  return text +
         " \\\n        '*:argument:" + (words.empty() ? "_files" : "(" + joined(words, " ") + ")") +
         "' ;;\n";
}

std::string fish_condition(const CommandEntry& command) {
  if (command.name.empty()) return " -n __fish_use_subcommand";
  const std::string first = command.name.substr(0, command.name.find(' '));
  std::string condition = "__fish_seen_subcommand_from " + first;
  if (last_word(command) != first) {
    condition += "; and __fish_seen_subcommand_from " + last_word(command);
  }
  return " -n " + in_quotes(condition);
}

std::string fish_option(const CommandEntry& command, const OptionEntry& option) {
  std::string line = "complete -c embert" + fish_condition(command);
  if (!option.short_name.empty()) line += " -s " + option.short_name.substr(1);
  if (!option.long_name.empty()) line += " -l " + option.long_name.substr(2);
  if (!option.choices.empty()) {
    line += " -x -a " + in_quotes(joined(option.choices, " "));
  } else if (option.takes_path()) {
    line += " -r -F";
  } else if (!option.value.empty()) {
    line += " -x";
  }
  return line + " -d " + in_quotes(brief(option.description)) + "\n";
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  const std::vector<CommandEntry> tree = command_tree(app);
  std::string text =
      "# bash completion of embert, written by `embert completion bash`\n"
      "_embert() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  local command=${COMP_WORDS[1]} options= words=\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W " +
      in_quotes(joined(last_words(commands_behind(tree, "")), " ") + " " +
                joined(tree.front().option_names(), " ")) +
      " -- \"$word\"))\n    return\n  fi\n";
  for (const CommandEntry& command : tree) {
    if (!command.has_subcommands || command.name.empty()) continue;
    const std::string words = joined(last_words(commands_behind(tree, command.name)), " ");
    text += "  if [[ $command == " + command.name +
            " ]]; then\n    if ((COMP_CWORD == 2)); then\n" + "      COMPREPLY=($(compgen -W " +
            in_quotes(words) +
            " -- \"$word\"))\n      return\n    fi\n    command+=\" ${COMP_WORDS[2]}\"\n  fi\n";
  }
  text += "  case \"$command\" in\n";
  for (const CommandEntry& command : tree) {
    if (!command.name.empty()) text += bash_case(command, argument_words(tree, command));
  }
  return text +
         "  esac\n  if [[ $word == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
         "  elif [[ -n $words ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n    compopt +o default\n  fi\n}\n"
         "complete -o default -F _embert embert";
}

std::string zsh_completion(const CLI::App& app) {
  const std::vector<CommandEntry> tree = command_tree(app);
  std::string text =
      "#compdef embert\n# zsh completion of embert, written by `embert completion zsh`\n"
      "_embert() {\n  local -a commands\n  local command=$words[2]\n"
      "  if ((CURRENT == 2)); then\n    commands=(" +
      zsh_commands(commands_behind(tree, "")) +
      ")\n    _describe command commands\n    return\n  fi\n";
  for (const CommandEntry& command : tree) {
    if (!command.has_subcommands || command.name.empty()) continue;
    text += "  if [[ $command == " + command.name + " ]]; then\n    if ((CURRENT == 3)); then\n" +
            "      commands=(" + zsh_commands(commands_behind(tree, command.name)) +
            ")\n      _describe command commands\n      return\n    fi\n" +
            "    command+=\" $words[3]\"\n    shift words\n    ((CURRENT--))\n  fi\n";
  }
  text += "  shift words\n  ((CURRENT--))\n  case $command in\n";
  for (const CommandEntry& command : tree) {
    if (command.name.empty() || command.has_subcommands) continue;
    text += zsh_case(command, argument_words(tree, command));
  }
  // Loaded from a folder of $fpath the file is the function's body; sourced, it registers it.
  return text +
         "  esac\n}\n"
         "if [[ $funcstack[1] == _embert ]]; then\n  _embert \"$@\"\nelse\n"
         "  compdef _embert embert\nfi";
}

std::string fish_completion(const CLI::App& app) {
  const std::vector<CommandEntry> tree = command_tree(app);
  std::string text = "# fish completion of embert, written by `embert completion fish`\n";
  for (const CommandEntry* command : commands_behind(tree, "")) {
    text += "complete -c embert -f -n __fish_use_subcommand -a " + command->name + " -d " +
            in_quotes(brief(command->description)) + "\n";
    for (const CommandEntry* second : commands_behind(tree, command->name)) {
      text += "complete -c embert -f -n " +
              in_quotes("__fish_seen_subcommand_from " + command->name +
                        "; and not __fish_seen_subcommand_from " +
                        joined(last_words(commands_behind(tree, command->name)), " ")) +
              " -a " + last_word(*second) + " -d " + in_quotes(brief(second->description)) + "\n";
    }
  }
  for (const CommandEntry& command : tree) {
    if (command.has_subcommands && !command.name.empty()) continue;
    for (const OptionEntry& option : command.options) text += fish_option(command, option);
    const std::vector<std::string> words = argument_words(tree, command);
    if (words.empty()) continue;
    text += "complete -c embert -f" + fish_condition(command) + " -a " +
            in_quotes(joined(words, " ")) + "\n";
  }
  text.pop_back();
  return text;
}

}  // namespace embert::cli
