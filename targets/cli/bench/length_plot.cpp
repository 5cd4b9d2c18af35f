// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/bench/length_plot.hpp"

#include <algorithm>
#include <array>

#include "targets/cli/report/markup.hpp"
#include "targets/hosted/line_text.hpp"

namespace embert::cli {
namespace {

using hosted::fixed;

// The image, and the plot's frame in it, in pixels.
constexpr double kWidth = 800, kHeight = 480;
constexpr double kLeft = 64, kRight = 780, kTop = 48, kBottom = 430;
constexpr std::array<const char*, 4> kColors = {"#0b7285", "#d9480f", "#5f3dc4", "#2b8a3e"};

struct Place {
  double x, y;
};

std::string text_at(const Place& at, const char* anchor, const std::string& text) {
  return "<text x=\"" + fixed(at.x, 1) + "\" y=\"" + fixed(at.y, 1) + "\" text-anchor=\"" + anchor +
         "\">" + markup_text(text) + "</text>\n";
}

std::string rule(const Place& from, const Place& to) {
  return "<path class=\"rule\" d=\"M" + fixed(from.x, 1) + ' ' + fixed(from.y, 1) + 'L' +
         fixed(to.x, 1) + ' ' + fixed(to.y, 1) + "\"/>\n";
}

std::string number(double value, double tick) { return fixed(value, tick < 1 ? 2 : 0); }

}  // namespace

std::string length_plot(const std::string& title, std::span<const LengthCurve> curves) {
  double most = 0;
  for (const LengthCurve& curve : curves) {
    most = std::max(most, *std::max_element(curve.ms.begin(), curve.ms.end()));
  }
  const auto lengths = static_cast<double>(curves.front().ms.size());
  const auto place = [&](double tokens, double ms) {
    return Place{kLeft + (kRight - kLeft) * tokens / lengths,
                 kBottom - (kBottom - kTop) * ms / most};
  };
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + fixed(kWidth, 0) +
                    ' ' + fixed(kHeight, 0) +
                    "\" role=\"img\" font-family=\"sans-serif\" font-size=\"13\">\n"
                    "<style>svg{background:#fff}text{fill:#212529}.rule{stroke:#ced4da;fill:none}"
                    ".curve{fill:none;stroke-width:1.5}"
                    "@media(prefers-color-scheme:dark){svg{background:#14171a}text{fill:#e9ecef}"
                    ".rule{stroke:#495057}}</style>\n"
                    "<title>" +
                    markup_text(title) + "</title>\n" + text_at({kLeft, 24}, "start", title);
  for (double tick = tick_of(most), ms = 0; ms <= most; ms += tick) {
    const Place at = place(0, ms);
    svg += rule(at, {kRight, at.y}) + text_at({kLeft - 8, at.y + 4}, "end", number(ms, tick));
  }
  for (double tick = std::max(1.0, tick_of(lengths)), n = 0; n <= lengths; n += tick) {
    const Place at = place(n, 0);
    svg += rule(at, {at.x, kBottom + 5}) + text_at({at.x, kBottom + 20}, "middle", number(n, tick));
  }
  svg += text_at({kLeft, kTop - 8}, "end", "ms") +
         text_at({(kLeft + kRight) / 2, kHeight - 8}, "middle", "tokens");
  for (size_t c = 0; c < curves.size(); ++c) {
    const std::string color = kColors[c % kColors.size()];
    std::string points;
    for (size_t n = 0; n < curves[c].ms.size(); ++n) {
      const Place at = place(static_cast<double>(n + 1), curves[c].ms[n]);
      points += (n > 0 ? " " : "") + fixed(at.x, 1) + ',' + fixed(at.y, 1);
    }
    const Place name = {kLeft + 16, kTop + 20 + 18 * static_cast<double>(c)};
    svg += "<polyline class=\"curve\" stroke=\"" + color + "\" points=\"" + points + "\"/>\n" +
           "<path d=\"M" + fixed(name.x, 1) + ' ' + fixed(name.y - 4, 1) +
           "h20\" stroke-width=\"3\" stroke=\"" + color + "\"/>\n" +
           text_at({name.x + 28, name.y}, "start", curves[c].name);
  }
  return svg + "</svg>";
}

}  // namespace embert::cli
