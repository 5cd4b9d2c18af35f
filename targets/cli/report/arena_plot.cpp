// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "targets/cli/report/markup.hpp"
#include "targets/cli/report/page_sections.hpp"

namespace embert::cli {
namespace {

using hosted::fixed;
using hosted::Json;

constexpr double kHeight = 300, kTop = 22;  // px
constexpr double kLeastRow = 14;            // px that a name needs

/// Byte ranges [begin, end) that were written so far.
class WrittenBytes {
 public:
  void add(double begin, double end) {
    auto at = ranges_.upper_bound(begin);
    if (at != ranges_.begin() && std::prev(at)->second >= begin) --at;
    while (at != ranges_.end() && at->first <= end) {
      begin = std::min(begin, at->first);
      end = std::max(end, at->second);
      at = ranges_.erase(at);
    }
    ranges_[begin] = end;
  }
  const std::map<double, double>& ranges() const { return ranges_; }

 private:
  std::map<double, double> ranges_;
};

std::string cell(const char* name, double left, double width, double top, double height) {
  return std::string("<rect class=\"") + name + "\" x=\"" + fixed(left, 3) + "%\" width=\"" +
         fixed(width, 3) + "%\" y=\"" + fixed(top, 1) + "\" height=\"" +
         fixed(std::max(0.8, height), 1) + "\"/>";
}

/// "layer 3" of "layer 3: attention".
std::string layer_of(const Json& step) {
  const std::string name = step["step"].get<std::string>();
  return name.substr(0, name.find(':'));
}

}  // namespace

std::string arena_plot(const Json& arena) {
  const double bytes = arena["bytes"].get<double>();
  const auto y = [&](double offset) { return kTop + kHeight * offset / bytes; };
  const Json& steps = arena["steps"];
  const double width = 100.0 / static_cast<double>(steps.size());

  std::string names;  // a column beside the plot: its letters need a width in pixels
  double below = 0;
  for (const Json& area : arena["areas"]) {
    const double middle = y(area["offset"].get<double>() + area["bytes"].get<double>() / 2) + 4;
    if (kHeight * area["bytes"].get<double>() / bytes < kLeastRow || middle < below) continue;
    names += "<text class=\"small\" x=\"3\" y=\"" + fixed(middle, 1) + "\">" +
             markup_text(area["name"].get<std::string>()) + "</text>\n";
    below = middle + kLeastRow;
  }

  std::string cells, rules;
  WrittenBytes before;
  std::string layer;
  size_t layers = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const double left = width * static_cast<double>(i);
    for (const auto& [begin, end] : before.ranges()) {
      cells += cell("old", left, width, y(begin), y(end) - y(begin));
    }
    for (const Json& range : steps[i]["written"]) {
      const double begin = range["offset"].get<double>(),
                   end = begin + range["bytes"].get<double>();
      cells += cell("fill", left + 0.06 * width, 0.88 * width, y(begin), y(end) - y(begin));
      before.add(begin, end);
    }
    if (layer_of(steps[i]) == layer) continue;
    layer = layer_of(steps[i]);
    const std::string x = fixed(left, 3) + "%";
    rules += "<line class=\"rule\" x1=\"" + x + "\" x2=\"" + x + "\" y1=\"4\" y2=\"" +
             fixed(kTop + kHeight, 1) + "\"/>";
    // Many layers leave room for numbers only, or for some of them.
    const bool is_layer = layer.rfind("layer ", 0) == 0;
    if (is_layer && (steps.size() <= 40 || layers++ % 4 == 0)) {
      rules += "<text class=\"small\" x=\"" + x + "\" dx=\"3\" y=\"15\"><tspan class=\"wide\">" +
               (steps.size() <= 22 ? "layer " : "") + "</tspan>" + layer.substr(6) + "</text>\n";
    }
  }
  for (const Json& area : arena["areas"]) {
    const std::string top = fixed(y(area["offset"].get<double>()), 1);
    rules += "<line class=\"rule\" x1=\"0\" x2=\"100%\" y1=\"" + top + "\" y2=\"" + top + "\"/>";
  }
  const std::string height = fixed(kTop + kHeight + 1, 0);
  const std::string plot = "width=\"100%\" height=\"" + height + "\"";
  // The names come last: on a narrow screen they lie on the picture.
  return "<div class=\"beside\"><svg class=\"plot\" role=\"img\" " + plot +
         " aria-label=\"Bytes of the arena that each step of a pass writes; the numbers are in the "
         "tables below\">\n" +
         cells + rules + "</svg><svg class=\"plot names\" " + plot + " aria-hidden=\"true\">\n" +
         names + "</svg></div>\n";
}

}  // namespace embert::cli
