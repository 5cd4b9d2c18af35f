// SPDX-License-Identifier: Apache-2.0
// Lines on stderr, and colours where a terminal shows them.
#pragma once

#include <cstddef>
#include <string>

namespace embert::cli {

/// Notes and the progress bar no longer appear.
void be_quiet();
bool is_quiet();

/// Writes a line on stderr, as one_line() shows it; none with --quiet.
void note(const std::string& text);
/// Writes a line about what ends the tool, with --quiet, too.
void complain(const std::string& text);

enum class Colour { kRed = 31, kGreen = 32, kBold = 1 };
/// Returns the text in a colour if the file is a terminal that shows it; the variable NO_COLOR
/// (no-color.org) and TERM=dumb leave the text as it is.
std::string coloured(const std::string& text, Colour colour, int file);

/// The columns of the terminal that the file is; 100 of another file.
size_t terminal_width(int file);

}  // namespace embert::cli
