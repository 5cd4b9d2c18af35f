// SPDX-License-Identifier: Apache-2.0
// The sections on texts: cosines of both models, the worst texts, answers that changed.
#include <algorithm>

#include "targets/cli/report/markup.hpp"
#include "targets/cli/report/page_sections.hpp"

namespace embert::cli {
namespace {

using hosted::fixed;
using hosted::Json;

constexpr NumberStyle kCosine = {.decimals = 5};
constexpr NumberStyle kShare = {.decimals = 4};
constexpr double kPlotHeight = 180, kPlotTop = 18, kAxis = 22;  // px

/// A column for each bin; its count stands above it, cosines below. Widths are shares of the page,
/// so that letters have one size on every screen.
std::string histogram_plot(const Json& bins) {
  double most = 1;
  for (const Json& bin : bins) most = std::max(most, bin["texts"].get<double>());
  const double width = 100.0 / static_cast<double>(bins.size());
  const double bottom = kPlotTop + kPlotHeight;
  std::string svg = "<svg class=\"plot\" role=\"img\" width=\"100%\" height=\"" +
                    fixed(bottom + kAxis, 0) +
                    "\" aria-label=\"Histogram of cosines; the numbers are in the table below\">\n";
  for (size_t i = 0; i < bins.size(); ++i) {
    const double count = bins[i]["texts"].get<double>();
    const double height = count > 0 ? std::max(1.5, kPlotHeight * count / most) : 0;
    const double left = width * static_cast<double>(i);
    svg += "<rect class=\"fill\" x=\"" + fixed(left + 0.1 * width, 2) + "%\" y=\"" +
           fixed(bottom - height, 1) + "\" width=\"" + fixed(0.8 * width, 2) + "%\" height=\"" +
           fixed(height, 1) + "\"/>";
    if (count > 0) {
      svg += "<text class=\"small\" text-anchor=\"middle\" x=\"" + fixed(left + width / 2, 2) +
             "%\" y=\"" + fixed(bottom - height - 5, 1) + "\">" + fixed(count, 0) + "</text>\n";
    }
  }
  svg += "<line class=\"rule\" x1=\"0\" x2=\"100%\" y1=\"" + fixed(bottom, 1) + "\" y2=\"" +
         fixed(bottom, 1) + "\"/>\n";
  const std::string y = fixed(bottom + 15, 1);
  const auto label = [&](const char* at, const char* anchor, const Json& value) {
    svg += std::string("<text class=\"small\" x=\"") + at + "\" text-anchor=\"" + anchor +
           "\" y=\"" + y + "\">" + value.dump() + "</text>\n";
  };
  label("0", "start", bins.front()["from"]);
  if (bins.size() % 2 == 0) label("50%", "middle", bins[bins.size() / 2]["from"]);
  label("100%", "end", bins.back()["to"]);
  return svg + "</svg>\n";
}

std::string histogram_table(const Json& bins) {
  Table table({{"cosine above"}, {"at most"}, {"texts"}});
  for (const Json& bin : bins) {
    table.row({number(bin["from"], {.decimals = 7}), number(bin["to"], {.decimals = 7}),
               number(bin["texts"], kCount)});
  }
  return table.markup();
}

bool has_labels(const Json& worst) {
  return std::any_of(worst.begin(), worst.end(),
                     [](const Json& entry) { return entry.contains("float_label"); });
}

/// The begin of a text; the JSON has all of it.
std::string shown_text(const std::string& text) {
  constexpr size_t kMost = 200;
  if (text.size() <= kMost) return isolated_text(text);
  size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return isolated_text(text.substr(0, end) + " …");
}

std::string worst_table(const Json& worst) {
  const bool labelled = has_labels(worst);
  std::vector<Column> columns = {{"cosine"}};
  if (labelled) {
    columns.insert(columns.end(), {{"float32", Align::kText}, {"int8", Align::kText}, {"margin"}});
  }
  columns.push_back({"text", Align::kText});  // last: on a narrow screen it is scrolled
  Table table(columns);
  for (const Json& entry : worst) {
    std::vector<std::string> cells = {number(entry["cosine"], kCosine)};
    if (labelled) {
      const auto label = [&](const char* key) { return isolated_text(entry.value(key, "")); };
      const bool differs = entry.value("float_label", "") != entry.value("int8_label", "");
      cells.insert(cells.end(),
                   {label("float_label"), label("int8_label"),
                    differs ? number(entry.value("margin", Json()), kShare) : std::string("–")});
    }
    cells.push_back(shown_text(entry.value("text", "")));
    table.row(cells);
  }
  return table.markup();
}

std::string worst_caption(const Json& compared) {
  if (!has_labels(compared["worst"])) return "The texts with the lowest cosines.";
  return "First the texts that int8 answers otherwise: by the margin, in logits, by which float32 "
         "prefers its own answer. Then those with the lowest cosines.";
}

/// A table of objects that have the same keys.
std::string objects_table(const Json& objects) {
  std::vector<Column> columns;
  for (const auto& [key, value] : objects.front().items()) {
    std::string title = key;
    std::replace(title.begin(), title.end(), '_', ' ');
    columns.push_back({markup_text(title), value.is_number() ? Align::kNumber : Align::kText});
  }
  Table table(columns);
  for (const Json& object : objects) {
    std::vector<std::string> cells;
    for (const auto& [key, value] : objects.front().items()) {
      const Json cell = object.value(key, Json());
      if (cell.is_string() && (key == "text" || key == "pair")) {
        cells.push_back("<span class=\"long\">" + shown_text(cell.get<std::string>()) + "</span>");
        continue;
      }
      cells.push_back(cell.is_number() ? number(cell, {.decimals = cell.is_number_float() ? 4 : 0})
                      : cell.is_string() ? shown_text(cell.get<std::string>())
                                         : markup_text(cell.dump()));
    }
    table.row(cells);
  }
  return table.markup();
}

bool is_of_both_models(const Json& value) {
  return value.is_object() && value.contains("float32") && value.contains("int8");
}

std::string measures(const Json& data) {
  Table table({{"measure", Align::kText}, {"float32"}, {"int8"}});
  for (const auto& [key, value] : data.items()) {
    if (!is_of_both_models(value)) continue;
    std::string name = key;
    std::replace(name.begin(), name.end(), '_', ' ');
    table.row({markup_text(name), number(value["float32"], kShare), number(value["int8"], kShare)});
  }
  if (table.is_empty()) return "";
  std::string caption = "Measured on the right answers of the file. ";
  if (data.contains("loss")) {
    caption += "int8 loses " + number(data["loss"], kShare) + "; with 95 % confidence " +
               number(data["loss_interval"][0], kShare) + " to " +
               number(data["loss_interval"][1], kShare) + ".";
  }
  if (data.contains("max_loss")) {
    caption += " At most " + number(data["max_loss"], kShare) + " may be lost.";
  }
  return figure("How good both models are", table.markup(), caption);
}

}  // namespace

const Json& comparison_of(const Json& data) {
  static const Json none;
  if (data.contains("held_out")) return data["held_out"];
  return data.contains("cosine_mean") ? data : none;
}

Section cosine_section(const Json& data) {
  Section section = {"cosines",
                     "Distance to float32",
                     {"held_out", "compared", "texts", "texts_file", "tokens", "agreement",
                      "answers", "logit_error_max", "cosine_mean", "cosine_p01", "cosine_min",
                      "histogram", "worst", "hidden_errors"},
                     ""};
  const Json& compared = comparison_of(data);
  if (compared.is_null()) return section;
  Table facts({{"compared", Align::kText}, {"value"}});
  facts.row({"texts", number(compared["texts"], kCount)});
  facts.row({"tokens of these texts", number(compared["tokens"], kCount)});
  facts.row({"mean cosine", number(compared["cosine_mean"], {.decimals = 6})});
  facts.row({"1st percentile of the cosine", number(compared["cosine_p01"], {.decimals = 6})});
  facts.row({"worst cosine", number(compared["cosine_min"], {.decimals = 6})});
  if (compared.contains("agreement")) {
    if (compared.contains("answers")) {
      const Json& answers = compared["answers"];
      const std::string kind = markup_text(answers["kind"].get<std::string>());
      facts.row({kind + " compared", number(answers["count"], kCount)});
      facts.row({kind + " that differ", number(answers["differing"], kCount)});
    }
    facts.row({"same answers", number(compared["agreement"], kPercent)});
    facts.row(
        {"largest difference of a logit", number(compared["logit_error_max"], {.decimals = 4})});
  }
  const std::string values = markup_text(compared["compared"].get<std::string>());
  section.body =
      figure("Cosine between the two models, text by text",
             histogram_plot(compared["histogram"]) +
                 folded("The numbers of this plot", histogram_table(compared["histogram"])),
             "Number of texts by the cosine between the " + values +
                 " of float32 and of int8, on the same tokens. 1 means the same "
                 "direction.");
  section.body += figure("In numbers", facts.markup(),
                         "Between the " + values + " of both models, over all texts.");
  if (!compared["worst"].empty()) {
    section.body += figure("Worst texts", worst_table(compared["worst"]), worst_caption(compared));
  }
  return section;
}

Section answer_section(const Json& data) {
  Section section = {
      "answers", "Answers", {"differing", "loss", "loss_interval", "max_loss", "verdict"}, ""};
  for (const auto& [key, value] : data.items()) {
    if (is_of_both_models(value)) section.keys.push_back(key);
  }
  section.body = measures(data);
  if (!data.contains("differing")) return section;
  const Json& differing = data["differing"];
  section.body +=
      differing.empty()
          ? paragraph("Both models give the same answer to every text.")
          : figure("Answers that changed", objects_table(differing),
                   std::to_string(differing.size()) + (differing.size() == 1 ? " text" : " texts") +
                       " to which float32 and int8 give different answers.");
  return section;
}

}  // namespace embert::cli
