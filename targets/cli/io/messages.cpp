// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/io/messages.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "targets/hosted/line_text.hpp"

namespace embert::cli {

static bool quiet = false;

void be_quiet() { quiet = true; }

bool is_quiet() { return quiet; }

static void write_message(const std::string& text, Colour colour) {
  std::fprintf(stderr, "%s %s\n", coloured("embert:", colour, STDERR_FILENO).c_str(),
               hosted::one_line(text).c_str());
}

void note(const std::string& text) {
  if (!quiet) write_message(text, Colour::kBold);
}

void complain(const std::string& text) { write_message(text, Colour::kRed); }

std::string coloured(const std::string& text, Colour colour, int file) {
  const char *no_color = std::getenv("NO_COLOR"), *terminal = std::getenv("TERM");
  const bool plain = (no_color != nullptr && *no_color != '\0') || isatty(file) != 1 ||
                     (terminal != nullptr && std::string_view(terminal) == "dumb");
  return plain ? text : "\033[" + std::to_string(static_cast<int>(colour)) + "m" + text + "\033[0m";
}

size_t terminal_width(int file) {
  constexpr size_t kNoTerminal = 100;
  winsize size = {};
  return ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : kNoTerminal;
}

}  // namespace embert::cli
