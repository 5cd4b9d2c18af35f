// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/report/report_page.hpp"

#include <filesystem>
#include <vector>

#include "targets/cli/report/markup.hpp"
#include "targets/cli/report/page_sections.hpp"
#include "targets/cli/report/page_style.hpp"

namespace embert::cli {
namespace {

using hosted::Json;

std::string last_name(const Json& path) {
  const std::filesystem::path clean =
      (std::filesystem::path(path.get<std::string>()) / "").parent_path();
  return clean.filename().string();
}

std::string tile(const std::string& name, const std::string& value, const std::string& remark) {
  return "<div><dt>" + name + "</dt><dd>" + value + "<small>" + remark + "</small></dd></div>\n";
}

/// A summary is about texts of so many tokens, or of the next fewer that was measured.
constexpr size_t kTileTokens = 128;

/// The few numbers that most readers look for.
std::string tiles(const Json& data) {
  std::string html;
  const Json& compared = comparison_of(data);
  if (!compared.is_null()) {
    html += tile("Mean cosine to float32", number(compared["cosine_mean"], {.decimals = 5}),
                 "worst " + number(compared["cosine_min"], {.decimals = 5}));
    if (compared.contains("agreement")) {
      html += tile("Same answers", number(compared["agreement"], kPercent),
                   (compared.contains("answers")
                        ? markup_text(compared["answers"]["kind"].get<std::string>()) + " "
                        : "") +
                       "of both models, on " + number(compared["texts"], kCount) + " texts");
    }
  }
  html +=
      tile("Model file", number(data["blob_bytes"], {.decimals = 2, .factor = 1e-6, .unit = " MB"}),
           number(data["blob_bytes"], kCount) + " bytes");
  const Json& arena = data["arena_bytes"];
  if (!arena.empty()) {
    std::string length;
    for (const auto& [tokens, bytes] : arena.items()) {
      if (length.empty() || std::stoul(tokens) <= kTileTokens) length = tokens;
    }
    html += tile("Arena", number(arena[length], {.decimals = 1, .factor = 1e-3, .unit = " kB"}),
                 "at " + length + " tokens");
  }
  if (data.contains("bench") && !data["bench"].empty()) {
    const Json& first = data["bench"].front();
    const Json* chosen = &first;
    for (const Json& one : data["bench"]) {
      if (one["tokens"] <= kTileTokens) chosen = &one;
    }
    html += tile("Time of one text", number((*chosen)["median_ms"], {.decimals = 2, .unit = " ms"}),
                 number((*chosen)["tokens"], kCount) + " tokens, one thread, " +
                     markup_text((*chosen)["isa"].get<std::string>()));
  }
  return "<dl class=\"tiles\">\n" + html + "</dl>\n";
}

std::string verdict(const Json& data) {
  if (!data.contains("verdict")) return "";
  const bool passed = data["verdict"] == "pass";
  return std::string("<p class=\"verdict ") + (passed ? "pass" : "fail") + "\"><strong>" +
         (passed ? "Pass" : "Fail") + "</strong> int8 loses " +
         number(data["loss"], {.decimals = 4}) + " against float32; at most " +
         number(data["max_loss"], {.decimals = 4}) + " may be lost.</p>\n";
}

std::string warnings(const Json& data) {
  if (!data.contains("warnings") || data["warnings"].empty()) return "";
  std::string items;
  for (const Json& warning : data["warnings"]) {
    items += "<li>" + isolated_text(warning.get<std::string>()) + "</li>\n";
  }
  return "<div class=\"warning\"><h2>Warnings</h2><ul>\n" + items + "</ul></div>\n";
}

std::string lead(const Json& data) {
  const Json& compared = comparison_of(data);
  if (compared.is_null()) return paragraph("The model was not compared with float32.");
  std::string texts = " texts, ";
  if (data.contains("texts_file")) {
    texts = " texts of " + isolated_text(data["texts_file"].get<std::string>()) + ", ";
  } else if (data.contains("held_out")) {
    texts = " texts that calibration did not use (" +
            markup_text(data["certificate"]["held_out_texts"].get<std::string>()) + "), ";
  }
  return "<p class=\"lead\">On " + number(compared["texts"], kCount) + texts + "the " +
         markup_text(compared["compared"].get<std::string>()) +
         " of the int8 model have a mean cosine of " +
         number(compared["cosine_mean"], {.decimals = 5}) +
         " to those of float32; the worst text has " +
         number(compared["cosine_min"], {.decimals = 5}) + ".</p>\n";
}

}  // namespace

std::string report_page(const std::string& command, const Json& data) {
  const std::vector<Section> sections = {
      cosine_section(data),    answer_section(data), layer_section(data), range_section(data),
      precision_section(data), file_section(data),   arena_section(data), speed_section(data)};
  Json rest = data;
  for (const Section& section : sections) {
    for (const std::string& key : section.keys) rest.erase(key);
  }
  std::string links, body;
  const auto add = [&](const Section& section) {
    if (section.body.empty()) return;
    const std::string id = section.id, title = section.title;
    links += "<li><a href=\"#" + id + "\">" + title + "</a></li>\n";
    body += "<section id=\"" + id + "\">\n<h2>" + title + "</h2>\n" + section.body + "</section>\n";
  };
  for (const Section& section : sections) add(section);
  add(rest_section(rest));
  const std::string name = markup_text(last_name(data["model"]));
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
         "<meta name=\"color-scheme\" content=\"light dark\"/>\n<title>" +
         name + ": embert " + command + "</title>\n<style>\n" + kPageStyle +
         "</style>\n</head>\n<body>\n<header>\n<p class=\"kicker\">embert " + command +
         "</p>\n<h1><bdi>" + name + "</bdi></h1>\n<p class=\"from\">made from " +
         isolated_text(data["folder"].get<std::string>()) + "</p>\n" + verdict(data) + lead(data) +
         tiles(data) + warnings(data) + "<nav aria-label=\"Sections\"><ul>\n" + links +
         "</ul></nav>\n</header>\n<main>\n" + body + "</main>\n</body>\n</html>\n";
}

}  // namespace embert::cli
