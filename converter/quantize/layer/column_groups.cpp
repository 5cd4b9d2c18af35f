// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/layer/column_groups.hpp"

#include <algorithm>
#include <numeric>

namespace embert::convert {
namespace {

// A second group costs a requantisation of each output. It pays where most columns gain.
constexpr std::size_t kLeastColumns = 4 * kFirstColumns;
constexpr double kLeastGain = 1.25;  // reach of all columns / reach of the second group

}  // namespace

std::vector<std::uint8_t> choose_column_groups(std::span<const double> reach) {
  if (reach.size() < kLeastColumns) return {};
  std::vector<std::size_t> order(reach.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return reach[a] > reach[b]; });
  if (reach[order[0]] < kLeastGain * reach[order[kFirstColumns]]) return {};
  std::vector<std::uint8_t> group(reach.size(), 1);
  for (std::size_t i = 0; i < kFirstColumns; ++i) group[order[i]] = 0;
  return group;
}

SplitWeights order_by_group(const RoundedWeights& rounded, const std::vector<std::uint8_t>& group) {
  SplitWeights out;
  out.source.resize(rounded.inputs);
  std::iota(out.source.begin(), out.source.end(), std::size_t{0});
  std::stable_sort(out.source.begin(), out.source.end(),
                   [&](std::size_t a, std::size_t b) { return group[a] < group[b]; });
  for (std::size_t n = 0; n < rounded.outputs; ++n) {
    for (const std::size_t c : out.source) {
      out.codes.push_back(static_cast<std::int8_t>(rounded.row(n)[c]));
    }
  }
  return out;
}

}  // namespace embert::convert
