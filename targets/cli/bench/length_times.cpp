// SPDX-License-Identifier: Apache-2.0
#include "targets/cli/bench/length_times.hpp"

#include <algorithm>
#include <limits>

namespace embert::cli {
namespace {

// Steps that are measured again, then half as many twice as often, down to the fewest.
constexpr size_t kMostAgain = 64, kFewestAgain = 8;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// A step to a length, as often as it was measured.
struct StepTimes {
  size_t tokens;
  std::vector<double> percents = {};
  double median = 0;
};

void sort_by_median(std::vector<StepTimes>& steps) {
  for (StepTimes& step : steps) step.median = median(step.percents);
  std::ranges::sort(steps, std::greater{}, &StepTimes::median);
}

}  // namespace

LengthTimes time_lengths(std::span<const double> macs, uint32_t repeats,
                         const std::function<double(size_t tokens)>& run) {
  LengthTimes times = {std::vector<double>(macs.size(), std::numeric_limits<double>::max()), {}};
  const auto time = [&](size_t tokens) {
    const double ms = run(tokens);
    times.ms[tokens - 1] = std::min(times.ms[tokens - 1], ms);
    return ms;
  };
  const auto add = [&](StepTimes& step, double before, double ms) {
    const double of_macs = macs[step.tokens - 1] / macs[step.tokens - 2];
    step.percents.push_back(100 * ms / before / of_macs - 100);
  };

  std::vector<StepTimes> steps;
  for (size_t tokens = 2; tokens <= macs.size(); ++tokens) steps.push_back({tokens});
  for (uint32_t repeat = 0; repeat < repeats; ++repeat) {
    double before = time(1);
    for (StepTimes& step : steps) {
      const double ms = time(step.tokens);
      add(step, before, ms);
      before = ms;
    }
  }
  // Other programs make some of hundreds of steps look large by chance: these are measured again.
  size_t again = repeats;
  for (size_t most = kMostAgain; most >= kFewestAgain; most /= 2, again *= 2) {
    sort_by_median(steps);
    if (steps.size() > most) steps.resize(most);
    for (size_t repeat = 0; repeat < again; ++repeat) {
      for (StepTimes& step : steps) {
        const double before = time(step.tokens - 1);
        add(step, before, time(step.tokens));
      }
    }
  }
  sort_by_median(steps);
  if (!steps.empty()) times.step = {steps[0].tokens, steps[0].median};
  return times;
}

}  // namespace embert::cli
