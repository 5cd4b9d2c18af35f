// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/usage/manual.hpp"

#include <sstream>
#include <string_view>

#include "embert/embert.h"
#include "targets/cli/usage/command_tree.hpp"

namespace embert::cli {
namespace {

/// Text as roff shows it: no line begins with a request, no dash becomes a hyphen.
std::string roff(std::string_view text) {
  std::string result;
  bool at_start = true;
  for (const char letter : text) {
    if (at_start && (letter == '.' || letter == '\'')) result += "\\&";
    at_start = letter == '\n';
    if (letter == '\\') {
      result += "\\e";
    } else if (letter == '-') {
      result += "\\-";
    } else {
      result += letter;
    }
  }
  return result;
}

std::string value_of(const OptionEntry& entry) {
  return entry.value.empty() ? "" : " \\fI" + roff(entry.value) + "\\fR";
}

std::string remark(const OptionEntry& entry) {
  std::string text;
  for (const std::string& choice : entry.choices) text += (text.empty() ? "" : ", ") + choice;
  if (!text.empty()) text = " One of: " + text + ".";
  if (!entry.standard.empty()) text += " Default: " + entry.standard + ".";
  return text;
}

void write_entry(std::ostream& page, const OptionEntry& entry, bool is_argument) {
  page << "\n.TP\n";
  if (is_argument) {
    page << "\\fI" << roff(entry.long_name) << "\\fR";
  } else {
    const bool both = !entry.short_name.empty() && !entry.long_name.empty();
    page << "\\fB" << roff(entry.short_name) << (both ? "\\fR, \\fB" : "") << roff(entry.long_name)
         << "\\fR" << value_of(entry);
  }
  page << "\n" << roff(entry.description) << "." << roff(remark(entry));
}

void write_command(std::ostream& page, const CommandEntry& command) {
  page << "\n.SS \"" << roff("embert " + command.name);
  for (const OptionEntry& argument : command.arguments) {
    page << " " << roff(argument.required ? argument.long_name : "[" + argument.long_name + "]");
  }
  page << "\"\n" << roff(command.description) << ".";
  for (const OptionEntry& argument : command.arguments) write_entry(page, argument, true);
  for (const OptionEntry& option : command.options) write_entry(page, option, false);
  if (!command.footer.empty()) page << "\n.PP\n.nf\n" << roff(command.footer) << "\n.fi";
}

}  // namespace

std::string manual_page(const CLI::App& app) {
  std::ostringstream page;
  const std::vector<CommandEntry> tree = command_tree(app);
  page << ".TH EMBERT 1 \"\" \"embert " << roff(embert_version()) << "\" \"User Commands\"\n"
       << ".SH NAME\nembert \\- " << roff("BERT-family encoders in int8 on small machines")
       << "\n.SH SYNOPSIS\n\\fBembert\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR ...] [\\fIARGUMENT\\fR "
          "...]\n"
       << ".SH DESCRIPTION\n"
       << roff(tree.front().description) << "\n.SH COMMANDS";
  for (size_t i = 1; i < tree.size(); ++i) {
    if (!tree[i].has_subcommands) write_command(page, tree[i]);
  }
  page << "\n.SH EXIT STATUS\n0 fine, 1 wrong usage, 2 bad input file or text, 3 any other failure."
       << "\n.SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nIf set to anything, no colours are used.";
  return page.str();
}

}  // namespace embert::cli
