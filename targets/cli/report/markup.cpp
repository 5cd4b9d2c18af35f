// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/report/markup.hpp"

#include <algorithm>
#include <cmath>

namespace embert::cli {

using hosted::fixed;
using hosted::Json;

std::string markup_text(std::string_view text) {
  std::string out;
  for (const char c : hosted::one_line(text)) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string isolated_text(std::string_view text) { return "<bdi>" + markup_text(text) + "</bdi>"; }

std::string number(const Json& value, const NumberStyle& style) {
  if (!value.is_number()) return "–";
  const double shown = value.get<double>() * style.factor;
  const std::string text =
      style.decimals == 0 && style.grouped && shown >= 0
          ? hosted::grouped(static_cast<unsigned long long>(std::llround(shown)))
          : fixed(shown, style.decimals);
  return "<data value=\"" + value.dump() + "\">" + text + style.unit + "</data>";
}

std::string bar(double share) {
  return "<svg class=\"bar\" width=\"100%\" height=\"5\" aria-hidden=\"true\"><rect width=\"" +
         fixed(100 * std::clamp(share, 0.0, 1.0), 2) + "%\" height=\"5\"/></svg>";
}

// Few columns would lie far apart on a wide screen; many are scrolled on a narrow one.
static constexpr size_t kFewColumns = 3, kManyColumns = 5;

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::row(const std::vector<std::string>& cells) {
  rows_ += "<tr>";
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string align = columns_[i].align == Align::kNumber ? " class=\"n\"" : "";
    rows_ += i == 0 ? "<th scope=\"row\"" + align + ">" + cells[i] + "</th>"
                    : "<td" + align + ">" + cells[i] + "</td>";
  }
  rows_ += "</tr>\n";
}

std::string Table::markup() const {
  std::string head;
  for (const Column& column : columns_) {
    head += std::string("<th scope=\"col\"") +
            (column.align == Align::kNumber ? " class=\"n\">" : ">") + column.title + "</th>";
  }
  const char* width = columns_.size() <= kFewColumns    ? "few"
                      : columns_.size() >= kManyColumns ? "many"
                                                        : "some";
  return "<div class=\"scroll\" tabindex=\"0\"><table class=\"" + std::string(width) +
         "\"><thead><tr>" + head + "</tr></thead>\n<tbody>\n" + rows_ + "</tbody></table></div>\n";
}

std::string figure(const std::string& title, const std::string& body, const std::string& caption) {
  return "<figure>\n<h3>" + title + "</h3>\n" + body + "<figcaption>" + caption +
         "</figcaption>\n</figure>\n";
}

std::string folded(const std::string& title, const std::string& body) {
  return "<details><summary>" + title + "</summary>\n" + body + "</details>\n";
}

std::string paragraph(const std::string& markup) { return "<p>" + markup + "</p>\n"; }

double tick_of(double most) {
  const double tick = std::pow(10, std::floor(std::log10(most / 10)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    if (most / (tick * factor) <= 10) return tick * factor;
  }
  return most;
}

}  // namespace embert::cli
