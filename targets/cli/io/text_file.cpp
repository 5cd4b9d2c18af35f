// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/io/text_file.hpp"

#include <set>
#include <string_view>

#include "converter/files/read_file.hpp"
#include "targets/cli/tool_error.hpp"
#include "targets/hosted/line_text.hpp"

namespace embert::cli {

std::vector<std::string> read_text_lines(const std::string& path) {
  try {
    std::vector<std::string> lines =
        convert::split_lines(convert::read_file(path, quoted_path(path), convert::kMostTextBytes));
    if (!lines.empty()) return lines;
  } catch (const convert::ConvertError& error) {
    throw InputError(error.what());
  }
  throw InputError(quoted_path(path) + ": has no text; put one on each line");
}

std::string take_label(std::string& line, const std::string& where) {
  const size_t tab = line.rfind('\t');
  if (tab == std::string::npos) throw InputError(where + ": expected text, a tab and a label");
  std::string label = line.substr(tab + 1);
  line.resize(tab);
  return label;
}

bool seem_labelled(const std::vector<std::string>& lines) {
  constexpr size_t kFewestTextsOfALabel = 4;  // on average
  std::set<std::string_view> labels;
  for (const std::string& line : lines) {
    const size_t tab = line.rfind('\t');
    if (tab == std::string::npos) return false;
    labels.insert(std::string_view(line).substr(tab + 1));
  }
  return labels.size() * kFewestTextsOfALabel <= lines.size();
}

}  // namespace embert::cli
