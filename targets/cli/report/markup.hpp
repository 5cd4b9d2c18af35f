// SPDX-License-Identifier: Apache-2.0
// The parts of which pages and plots are written: escaped text, numbers, tables. Everything that
// comes from a model, a folder or a user goes through markup_text().
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "targets/hosted/line_text.hpp"

namespace embert::cli {

/// Text for HTML and SVG, in elements and in attributes. Control characters and bytes that are not
/// UTF-8 become '?', as in one_line().
std::string markup_text(std::string_view text);
/// markup_text() whose direction of writing does not leak into the page around it.
std::string isolated_text(std::string_view text);

/// How a number is shown: value * factor with so many decimals, then the unit.
struct NumberStyle {
  int decimals = 0;
  double factor = 1;
  const char* unit = "";
  bool grouped = true;  ///< thousands, where there are no decimals
};
inline constexpr NumberStyle kCount = {};
inline constexpr NumberStyle kPercent = {.decimals = 2, .factor = 100, .unit = " %"};

/// Returns a <data> element: its value is the number as JSON has it, its text is for people. A null
/// becomes a dash.
std::string number(const hosted::Json& value, const NumberStyle& style);

/// A horizontal bar that fills a share of its cell, 0 to 1. It says nothing that the number beside
/// it does not say, so readers of the screen skip it.
std::string bar(double share);

enum class Align { kText, kNumber };
struct Column {
  std::string title;  ///< markup
  Align align = Align::kNumber;
};

/// A table whose cells are markup. The first cell of a row is its heading.
class Table {
 public:
  explicit Table(std::vector<Column> columns);
  void row(const std::vector<std::string>& cells);
  bool is_empty() const { return rows_.empty(); }
  std::string markup() const;

 private:
  std::vector<Column> columns_;
  std::string rows_;
};

/// A plot or a table with a heading above and a caption below it, both markup.
std::string figure(const std::string& title, const std::string& body, const std::string& caption);
/// Content that a click unfolds; a print shows it.
std::string folded(const std::string& title, const std::string& body);
std::string paragraph(const std::string& markup);

/// 1, 2 or 5 times a power of 10, so that `most` has at most ten steps.
double tick_of(double most);

}  // namespace embert::cli
