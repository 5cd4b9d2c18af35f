// SPDX-License-Identifier: Apache-2.0
// Bytes and time: the file, the arena, the speed on this machine; then all that is left.
#include <algorithm>
#include <map>

#include "targets/cli/report/markup.hpp"
#include "targets/cli/report/page_sections.hpp"

namespace embert::cli {
namespace {

using hosted::fixed;
using hosted::Json;

/// Parts of the file that belong together, in file order.
struct FilePart {
  std::string name;
  double bytes = 0;
};

std::string part_of(const Json& tensor) {
  if (tensor.contains("layer")) {
    const std::string stack =
        tensor.contains("stack") ? "stack " + tensor["stack"].dump() + ", " : "";
    return stack + "layer " + tensor["layer"].dump();
  }
  const std::string name = tensor["name"].get<std::string>();
  return name.rfind("word", 0) == 0 ? "word embeddings" : name;
}

/// Neighbours that share a name.
std::vector<FilePart> parts_of(const Json& tensors) {
  std::vector<FilePart> parts;
  for (const Json& tensor : tensors) {
    const std::string name = part_of(tensor);
    if (parts.empty() || parts.back().name != name) parts.push_back({name, 0});
    parts.back().bytes += tensor["bytes"].get<double>();
  }
  return parts;
}

std::string file_strip(const std::vector<FilePart>& parts, double whole) {
  constexpr double kLabelled = 0.12, kShort = 0.045;
  std::string svg =
      "<svg class=\"plot strip\" role=\"img\" width=\"100%\" height=\"46\" aria-label=\"Parts of "
      "the file in file order; the numbers are in the table below\">\n";
  double at = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const double share = parts[i].bytes / whole;
    svg += "<svg x=\"" + fixed(100 * at, 3) + "%\" width=\"" + fixed(100 * share, 3) +
           "%\" height=\"46\"><title>" + markup_text(parts[i].name) + "</title><rect class=\"part" +
           std::to_string(i % 2) + "\" width=\"100%\" height=\"46\"/>";
    if (share > kShort) {
      svg += std::string("<text class=\"small") + (share > kLabelled ? "" : " wide") +
             "\" x=\"5\" y=\"27\">" + markup_text(parts[i].name) + "</text>";
    }
    svg += "</svg>\n";
    at += share;
  }
  return svg + "</svg>\n";
}

std::string all_tensors(const Json& tensors) {
  const bool has_stacks = std::any_of(tensors.begin(), tensors.end(), [](const Json& tensor) {
    return tensor.value("stack", Json()).is_number();
  });
  std::vector<Column> columns = {{"tensor", Align::kText}};
  if (has_stacks) columns.push_back({"stack"});
  columns.insert(columns.end(), {{"layer"}, {"offset"}, {"bytes"}});
  Table table(columns);
  for (const Json& tensor : tensors) {
    std::vector<std::string> cells = {markup_text(tensor["name"].get<std::string>())};
    if (has_stacks) cells.push_back(number(tensor.value("stack", Json()), kCount));
    for (const Json& value : {tensor.value("layer", Json()), tensor["offset"], tensor["bytes"]}) {
      cells.push_back(number(value, kCount));
    }
    table.row(cells);
  }
  return folded("Every tensor with its place", table.markup());
}

std::string parts_figure(const Json& tensors, const Json& whole) {
  const double bytes = whole.get<double>();
  const std::vector<FilePart> parts = parts_of(tensors);
  double most = 0;
  for (const FilePart& part : parts) most = std::max(most, part.bytes);
  Table table({{"part", Align::kText}, {"bytes"}, {"share"}});
  for (const FilePart& part : parts) {
    table.row(
        {markup_text(part.name),
         hosted::grouped(static_cast<unsigned long long>(part.bytes)) + bar(part.bytes / most),
         fixed(100 * part.bytes / bytes, 2) + " %"});
  }
  return figure("Map of the file", file_strip(parts, bytes) + table.markup() + all_tensors(tensors),
                "The parts of the model file from its first byte to its last. The whole file has " +
                    number(whole, kCount) +
                    " bytes; the rest is its header and the gaps "
                    "between parts.");
}

std::string arena_sizes_figure(const Json& sizes) {
  double most = 0;
  for (const auto& [length, bytes] : sizes.items()) most = std::max(most, bytes.get<double>());
  Table table({{"tokens", Align::kText}, {"bytes"}});
  for (const auto& [length, bytes] : sizes.items()) {
    table.row({markup_text(length), number(bytes, kCount) + bar(bytes.get<double>() / most)});
  }
  return figure("Arena by length of the text", table.markup(),
                "All memory that the runtime takes beside the model file, for one text and one "
                "thread; the same on every machine.");
}

std::string areas_table(const Json& areas) {
  Table table({{"buffer", Align::kText}, {"offset"}, {"bytes"}});
  for (const Json& area : areas) {
    table.row({markup_text(area["name"].get<std::string>()), number(area["offset"], kCount),
               number(area["bytes"], kCount)});
  }
  return table.markup();
}

std::string writes_table(const Json& steps) {
  Table table({{"step", Align::kText}, {"bytes written at offset", Align::kText}});
  for (const Json& step : steps) {
    std::string ranges;
    for (const Json& range : step["written"]) {
      ranges += (ranges.empty() ? "" : ", ") + number(range["bytes"], kCount) + " at " +
                number(range["offset"], kCount);
    }
    table.row({markup_text(step["step"].get<std::string>()), ranges});
  }
  return table.markup();
}

/// Rows "a.b[2]" and values of everything below `value`.
void add_leaves(const std::string& path, const Json& value, Table& table) {
  if (value.is_structured() && !value.empty()) {
    size_t index = 0;
    for (const auto& [key, below] : value.items()) {
      add_leaves(value.is_array() ? path + "[" + std::to_string(index++) + "]"
                 : path.empty()   ? key
                                  : path + "." + key,
                 below, table);
    }
  } else if (value.is_number()) {
    const int decimals = value.is_number_float() ? 6 : 0;
    table.row({isolated_text(path), number(value, {.decimals = decimals})});
  } else {
    table.row({isolated_text(path), value.is_string() ? isolated_text(value.get<std::string>())
                                    : value.empty()   ? "none"
                                                      : value.dump()});
  }
}

}  // namespace

Section file_section(const Json& data) {
  Section section = {"file", "Model file", {"tensors", "blob_bytes", "bytes"}, ""};
  if (data.contains("bytes")) {
    Table table({{"use", Align::kText}, {"bytes"}});
    double most = 0;
    for (const auto& [use, bytes] : data["bytes"].items()) {
      most = std::max(most, bytes.get<double>());
    }
    for (const auto& [use, bytes] : data["bytes"].items()) {
      std::string name = use;
      std::replace(name.begin(), name.end(), '_', ' ');
      table.row({markup_text(name), number(bytes, kCount) + bar(bytes.get<double>() / most)});
    }
    section.body = figure("Bytes by use", table.markup(),
                          "Tables: biases, multipliers, norms, labels, certificate and header.");
  }
  if (data.contains("tensors")) {
    section.body += parts_figure(data["tensors"], data["blob_bytes"]);
  }
  return section;
}

Section arena_section(const Json& data) {
  Section section = {"arena", "Memory", {"arena_bytes", "arena"}, ""};
  if (data.contains("arena_bytes")) section.body = arena_sizes_figure(data["arena_bytes"]);
  if (!data.contains("arena")) return section;
  const Json& arena = data["arena"];
  section.body += figure(
      "The arena over a pass",
      arena_plot(arena) + folded("Areas", areas_table(arena["areas"])) +
          folded("Buffers in a thread's scratch", areas_table(arena["scratch"])) +
          folded("Writes of each step", writes_table(arena["steps"])),
      "Addresses downwards, the steps of a pass to the right: the embeddings, then the steps of "
      "each layer. <span class=\"key fill\"></span>Bytes that the step writes. "
      "<span class=\"key old\"></span>Bytes that an earlier step wrote. "
      "<span class=\"key none\"></span>Not written yet. Recorded during a real pass over " +
          number(arena["tokens"], kCount) + " random tokens with " +
          number(arena["threads"], kCount) + " threads, whose arena has " +
          number(arena["bytes"], kCount) +
          " bytes. A byte that a step writes again with the same value does not count.");
  return section;
}

Section speed_section(const Json& data) {
  Section section = {"speed", "Speed on this machine", {"bench"}, ""};
  if (!data.contains("bench") || data["bench"].empty()) return section;
  struct Measure {
    const char *key, *title;
    NumberStyle style;
  };
  const std::vector<Measure> measures = {
      {"tokens", "tokens", kCount},
      {"threads", "threads", kCount},
      {"min_ms", "least, ms", {.decimals = 3}},
      {"median_ms", "median, ms", {.decimals = 3}},
      {"p90_ms", "90th percentile, ms", {.decimals = 3}},
      {"gmac_per_s", "10<sup>9</sup> multiply-adds a second", {.decimals = 1}},
      {"percent_of_peak", "share of peak", {.decimals = 1, .unit = " %"}}};
  std::vector<Column> columns = {{"kernels", Align::kText}};
  for (const Measure& measure : measures) columns.push_back({measure.title});
  Table table(columns);
  for (const Json& one : data["bench"]) {
    std::vector<std::string> cells = {markup_text(one["isa"].get<std::string>())};
    for (const Measure& measure : measures)
      cells.push_back(number(one[measure.key], measure.style));
    const Json& percent = one["percent_of_peak"];
    if (percent.is_number()) cells.back() += bar(percent.get<double>() / 100);
    table.row(cells);
  }
  section.body =
      figure("Time of one text", table.markup(),
             "The encoder alone on random ids, measured for a moment when this report was made; "
             "<code>embert bench</code> measures longer. Times that spread widely mean that the "
             "machine had other work. Peak: the best multiply-add instruction "
             "alone, measured on the same core.");
  return section;
}

Section rest_section(const Json& rest) {
  Section section = {"rest", "How it was made", {}, ""};
  Table table({{"what", Align::kText}, {"value", Align::kText}});
  add_leaves("", rest, table);
  section.body = table.markup();
  return section;
}

}  // namespace embert::cli
