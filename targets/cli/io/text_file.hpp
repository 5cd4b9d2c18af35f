// SPDX-License-Identifier: Apache-2.0
// Files with a text a line, maybe with a label behind a tab.
#pragma once

#include <string>
#include <vector>

namespace embert::cli {

/// Reads a regular file of at most 256 MB. Throws InputError, also for a file without lines.
std::vector<std::string> read_text_lines(const std::string& path);

/// Cuts the label off the end of a line "text<tab>label" and returns it. `where` begins the message
/// of the InputError for a line without a tab.
std::string take_label(std::string& line, const std::string& where);

/// Whether all lines are a text, a tab and one of few labels.
bool seem_labelled(const std::vector<std::string>& lines);

}  // namespace embert::cli
