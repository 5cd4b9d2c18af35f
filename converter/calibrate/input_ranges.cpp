// SPDX-License-Identifier: Apache-2.0
#include "converter/calibrate/input_ranges.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace embert::convert {
namespace {

// `reach`: the largest magnitude of each channel.
void add_range(const std::string& input, const std::vector<float>& reach,
               std::vector<InputRange>& ranges) {
  if (reach.empty()) return;
  InputRange range;
  range.input = input;
  range.channels = reach.size();
  std::vector<float> sorted = reach;
  std::ranges::sort(sorted);
  range.reach = static_cast<double>(sorted.back());
  range.median_reach = static_cast<double>(sorted[sorted.size() / 2]);
  for (std::size_t channel = 0; channel < reach.size(); ++channel) {
    const auto one = static_cast<double>(reach[channel]);
    if (one > kOutlierReach * range.median_reach) range.outliers.push_back({channel, one});
  }
  std::ranges::stable_sort(range.outliers, [](const OutlierChannel& a, const OutlierChannel& b) {
    return a.reach > b.reach;
  });
  ranges.push_back(std::move(range));
}

void add_range(const std::string& input, const ChannelRange& channels,
               std::vector<InputRange>& ranges) {
  std::vector<float> reach;
  for (std::size_t i = 0; i < channels.lowest.size(); ++i) {
    reach.push_back(std::max(std::fabs(channels.lowest[i]), std::fabs(channels.highest[i])));
  }
  add_range(input, reach, ranges);
}

}  // namespace

std::vector<std::vector<InputRange>> input_ranges(const CalibrationRanges& ranges) {
  std::vector<std::vector<InputRange>> layers;
  for (const StackRanges& stack : ranges.stacks) {
    for (const LayerRanges& layer : stack.layers) {
      std::vector<InputRange>& out = layers.emplace_back();
      add_range("qkv", layer.input, out);
      add_range("output", layer.self.context, out);
      add_range("cross_query", layer.cross_input, out);
      add_range("cross_output", layer.cross.context, out);
      add_range("ffn_up", layer.ffn_input, out);
      add_range("ffn_down", layer.activated, out);
    }
  }
  return layers;
}

}  // namespace embert::convert
