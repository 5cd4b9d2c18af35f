// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/tasks/threshold_curve.hpp"

#include <algorithm>
#include <utility>

namespace embert::cli {
namespace {

constexpr int kSteps = 1000;

double share(size_t part, size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

ThresholdCurve::ThresholdCurve(std::vector<ScoredText> texts) : texts_(std::move(texts)) {
  std::sort(texts_.begin(), texts_.end(),
            [](const ScoredText& a, const ScoredText& b) { return a.score > b.score; });
  right_.assign(1, 0);
  known_.assign(1, 0);
  for (const ScoredText& text : texts_) {
    right_.push_back(right_.back() + (text.right ? 1u : 0u));
    known_.push_back(known_.back() + (text.known ? 1u : 0u));
  }
}

ThresholdPoint ThresholdCurve::at(double threshold) const {
  const auto end = std::partition_point(texts_.begin(), texts_.end(), [&](const ScoredText& text) {
    return text.score >= threshold;
  });
  const auto answered = static_cast<size_t>(end - texts_.begin());
  const size_t count = texts_.size(), unknown = count - known_.back();
  const size_t unknown_answered = answered - known_[answered];
  ThresholdPoint point;
  point.threshold = threshold;
  point.coverage = share(answered, count);
  point.error = share(answered - right_[answered], answered);
  point.accuracy = share(right_[answered] + unknown - unknown_answered, count);
  point.known_answered = share(known_[answered], known_.back());
  point.unknown_answered = share(unknown_answered, unknown);
  return point;
}

ThresholdPoint ThresholdCurve::most_accurate() const {
  ThresholdPoint best = at(0);
  for (int step = 1; step <= kSteps; ++step) {
    const ThresholdPoint point = at(static_cast<double>(step) / kSteps);
    if (point.accuracy > best.accuracy) best = point;
  }
  return best;
}

std::optional<ThresholdPoint> ThresholdCurve::within_error(double most_error) const {
  for (int step = 0; step <= kSteps; ++step) {  // coverage falls from step to step
    const ThresholdPoint point = at(static_cast<double>(step) / kSteps);
    if (point.coverage > 0 && point.error <= most_error) return point;
  }
  return {};
}

}  // namespace embert::cli
