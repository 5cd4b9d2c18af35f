// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/rounding/outlier_splitting.hpp"

#include <algorithm>
#include <cmath>

#include "converter/arithmetic/elementary.hpp"
#include "converter/model/channel_quant.hpp"

namespace embert::convert {
namespace {

constexpr int kMostParts = 16;      // columns of one input
constexpr double kHeadroom = 1.05;  // GPTQ may make an outlier larger

// The input that holds most outliers among the inputs that are not split: the largest sum over rows
// of log(largest / second largest). The number of inputs where there is none.
std::size_t find_outlier(const Matrix& weights, const std::vector<bool>& is_split,
                         double least_ratio) {
  std::vector<double> gain(weights.cols, 0.0);
  for (std::size_t n = 0; n < weights.rows; ++n) {
    const float* row = weights.row(n);
    float first = 0, second = 0;
    std::size_t at = 0;
    for (std::size_t c = 0; c < weights.cols; ++c) {
      const float magnitude = is_split[c] ? 0 : std::fabs(row[c]);
      if (magnitude > first) {
        second = first;
        first = magnitude;
        at = c;
      } else if (magnitude > second) {
        second = magnitude;
      }
    }
    if (static_cast<double>(first) > least_ratio * static_cast<double>(second)) {
      gain[at] +=
          ieee::log(static_cast<double>(first) /
                    std::max(static_cast<double>(second), 1e-3 * static_cast<double>(first)));
    }
  }
  const auto most = std::ranges::max_element(gain);
  return *most > 0 ? static_cast<std::size_t>(most - gain.begin()) : weights.cols;
}

OutlierPlan plan_for(const Matrix& weights, const std::vector<bool>& is_split) {
  OutlierPlan plan{.scale = std::vector<double>(weights.rows),
                   .limit = std::vector<int>(weights.cols, 127)};
  for (std::size_t n = 0; n < weights.rows; ++n) {
    const float* row = weights.row(n);
    double most_whole = 0, most_split = 0;
    for (std::size_t c = 0; c < weights.cols; ++c) {
      double& most = is_split[c] ? most_split : most_whole;
      most = std::max(most, static_cast<double>(std::fabs(row[c])));
    }
    const double scale = std::max(most_whole / 127, most_split * kHeadroom / (127 * kMostParts));
    plan.scale[n] = usable_scale(scale);
    for (std::size_t c = 0; c < weights.cols; ++c) {
      if (!is_split[c]) continue;
      const double parts = std::fabs(static_cast<double>(row[c])) / plan.scale[n] * kHeadroom / 127;
      plan.limit[c] = std::max(plan.limit[c], 127 * static_cast<int>(std::ceil(parts - 1e-9)));
    }
  }
  return plan;
}

}  // namespace

OutlierPlan plan_outlier_splitting(const Matrix& weights, const OutlierCopies& copies) {
  std::vector<bool> is_split(weights.cols, false);
  OutlierPlan plan = plan_for(weights, is_split);
  for (;;) {
    const std::size_t outlier = find_outlier(weights, is_split, copies.least_ratio);
    if (outlier == weights.cols) return plan;
    is_split[outlier] = true;
    OutlierPlan more = plan_for(weights, is_split);
    std::size_t columns = 0;
    for (const int limit : more.limit) columns += static_cast<std::size_t>(limit / 127 - 1);
    if (columns > copies.most) return plan;
    plan = std::move(more);
  }
}

SplitWeights split_outliers(const RoundedWeights& rounded) {
  std::vector<int> parts(rounded.inputs, 1);  // columns of each input
  for (std::size_t n = 0; n < rounded.outputs; ++n) {
    for (std::size_t c = 0; c < rounded.inputs; ++c) {
      parts[c] = std::max(parts[c], (std::abs(int{rounded.row(n)[c]}) + 126) / 127);
    }
  }
  SplitWeights split;
  std::vector<int> part;  // [columns] which of its input's parts a column is
  for (std::size_t c = 0; c < rounded.inputs; ++c) {
    split.source.push_back(c);
    part.push_back(0);
  }
  for (std::size_t c = 0; c < rounded.inputs; ++c) {
    for (int i = 1; i < parts[c]; ++i) {
      split.source.push_back(c);
      part.push_back(i);
    }
  }
  const std::size_t columns = split.source.size();
  split.codes.resize(rounded.outputs * columns);
  for (std::size_t n = 0; n < rounded.outputs; ++n) {
    for (std::size_t c = 0; c < columns; ++c) {
      // Even parts that add up: part i of p is code * (i + 1) / p - code * i / p, each quotient
      // rounded to zero.
      const int code = rounded.row(n)[split.source[c]], p = parts[split.source[c]];
      const int value = code * (part[c] + 1) / p - code * part[c] / p;
      split.codes[n * columns + c] = static_cast<std::int8_t>(value);
    }
  }
  return split;
}

}  // namespace embert::convert
