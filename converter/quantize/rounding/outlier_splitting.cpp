// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/rounding/outlier_splitting.hpp"

#include <algorithm>
#include <cmath>

namespace embert::convert {
namespace {

constexpr float kWideRatio = 1.5F;  // of a row's largest weight to its second largest
constexpr int kMostBytes = 16;      // of a column
constexpr double kHeadroom = 1.05;  // for what rounding moves into a wide column

struct Candidate {
  std::size_t column;
  double gain;  // sum over rows of log(largest / second largest)
};

// Columns that are worth a copy in some row, the most useful first.
std::vector<Candidate> find_candidates(const Matrix& weights) {
  std::vector<double> gain(weights.cols, 0.0);
  for (std::size_t n = 0; n < weights.rows; ++n) {
    const float* row = weights.row(n);
    float first = 0, second = 0;
    std::size_t at = 0;
    for (std::size_t c = 0; c < weights.cols; ++c) {
      const float magnitude = std::fabs(row[c]);
      if (magnitude > first) {
        second = first;
        first = magnitude;
        at = c;
      } else if (magnitude > second) {
        second = magnitude;
      }
    }
    if (first > kWideRatio * second) {
      gain[at] +=
          std::log(static_cast<double>(first) /
                   std::max(static_cast<double>(second), 1e-3 * static_cast<double>(first)));
    }
  }
  std::vector<Candidate> found;
  for (std::size_t c = 0; c < weights.cols; ++c) {
    if (gain[c] > 0) found.push_back({c, gain[c]});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Candidate& a, const Candidate& b) { return a.gain > b.gain; });
  return found;
}

// The plan when the first `count` candidates are wide.
WidePlan plan_for(const Matrix& weights, const std::vector<Candidate>& candidates,
                  std::size_t count) {
  std::vector<bool> wide(weights.cols, false);
  for (std::size_t i = 0; i < count; ++i) wide[candidates[i].column] = true;
  WidePlan plan{std::vector<double>(weights.rows), std::vector<int>(weights.cols, 127)};
  for (std::size_t n = 0; n < weights.rows; ++n) {
    const float* row = weights.row(n);
    double narrow = 0, widest = 0;
    for (std::size_t c = 0; c < weights.cols; ++c) {
      double& most = wide[c] ? widest : narrow;
      most = std::max(most, static_cast<double>(std::fabs(row[c])));
    }
    const double step = std::max(narrow / 127, widest * kHeadroom / (127 * kMostBytes));
    plan.step[n] = step > 0 ? step : 1.0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t c = candidates[i].column;
      const double bytes = std::fabs(static_cast<double>(row[c])) / plan.step[n] * kHeadroom / 127;
      plan.limit[c] = std::max(plan.limit[c], 127 * static_cast<int>(std::ceil(bytes - 1e-9)));
    }
  }
  return plan;
}

}  // namespace

WidePlan plan_wide_columns(const Matrix& weights, std::size_t most_copies) {
  const std::vector<Candidate> candidates = find_candidates(weights);
  for (std::size_t count = candidates.size();; count = count * 3 / 4) {
    WidePlan plan = plan_for(weights, candidates, count);
    std::size_t copies = 0;
    for (const int limit : plan.limit) copies += static_cast<std::size_t>(limit / 127 - 1);
    if (count == 0 || copies <= most_copies) return plan;
  }
}

SplitWeights split_wide_columns(const RoundedWeights& rounded) {
  SplitWeights split;
  std::vector<int> bytes(rounded.inputs, 1);
  for (std::size_t n = 0; n < rounded.outputs; ++n) {
    for (std::size_t c = 0; c < rounded.inputs; ++c) {
      bytes[c] = std::max(bytes[c], (std::abs(int{rounded.row(n)[c]}) + 126) / 127);
    }
  }
  std::vector<int> part;  // [columns] which of its input's bytes a column is
  for (std::size_t c = 0; c < rounded.inputs; ++c) {
    split.source.push_back(c);
    part.push_back(0);
  }
  for (std::size_t c = 0; c < rounded.inputs; ++c) {
    for (int i = 1; i < bytes[c]; ++i) {
      split.source.push_back(c);
      part.push_back(i);
    }
  }
  const std::size_t columns = split.source.size();
  split.codes.resize(rounded.outputs * columns);
  for (std::size_t n = 0; n < rounded.outputs; ++n) {
    for (std::size_t c = 0; c < columns; ++c) {
      // Evenly: part i of a code is code * (i + 1) / parts - code * i / parts, rounded to zero.
      const int code = rounded.row(n)[split.source[c]], parts = bytes[split.source[c]];
      const int value = code * (part[c] + 1) / parts - code * part[c] / parts;
      split.codes[n * columns + c] = static_cast<std::int8_t>(value);
    }
  }
  return split;
}

}  // namespace embert::convert
