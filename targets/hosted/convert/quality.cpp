// SPDX-License-Identifier: Apache-2.0
#include "targets/hosted/convert/quality.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <random>

namespace embert::hosted {
namespace {

constexpr double kNormal95 = 1.959964;  // the normal distribution's 97.5 % quantile
constexpr size_t kBootstrapSamples = 1000;

double accuracy(std::span<const int32_t> right, std::span<const int32_t> found) {
  size_t hits = 0;
  for (size_t i = 0; i < right.size(); ++i) hits += right[i] == found[i] ? 1u : 0u;
  return static_cast<double>(hits) / static_cast<double>(right.size());
}

double f1_macro(std::span<const int32_t> right, std::span<const int32_t> found) {
  struct Counts {
    size_t right = 0, found = 0, both = 0;
  };
  std::map<int32_t, Counts> labels;
  for (size_t i = 0; i < right.size(); ++i) {
    ++labels[right[i]].right;
    ++labels[found[i]].found;
    if (right[i] == found[i]) ++labels[right[i]].both;
  }
  double sum = 0;
  size_t count = 0;
  for (const auto& [label, counts] : labels) {
    if (counts.right == 0) continue;
    sum += 2 * static_cast<double>(counts.both) / static_cast<double>(counts.right + counts.found);
    ++count;
  }
  return sum / static_cast<double>(count);
}

Loss matched_loss(const LabelAnswers& answers) {
  double lost = 0.5, won = 0.5;  // half a text in each cell of the table
  const auto texts = static_cast<double>(answers.right.size());
  for (size_t i = 0; i < answers.right.size(); ++i) {
    const bool by_float = answers.float32[i] == answers.right[i];
    const bool by_int8 = answers.int8[i] == answers.right[i];
    lost += by_float && !by_int8 ? 1 : 0;
    won += by_int8 && !by_float ? 1 : 0;
  }
  const double count = texts + 2, middle = (lost - won) / count;
  const double width =
      kNormal95 * std::sqrt(lost + won - (lost - won) * (lost - won) / count) / count;
  return {(lost - won) / texts, middle - width, middle + width};
}

std::vector<double> ranks(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> result(values.size());
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double mean = static_cast<double>(begin + end - 1) / 2;
    for (size_t i = begin; i < end; ++i) result[order[i]] = mean;
  }
  return result;
}

}  // namespace

Loss bootstrapped_loss(size_t items, const LossOfSample& loss_of) {
  std::vector<size_t> sample(items);
  std::iota(sample.begin(), sample.end(), size_t{0});
  const double loss = loss_of(sample);
  std::mt19937_64 random(20260101);  // the same samples on every machine
  std::vector<double> losses;
  for (size_t round = 0; round < kBootstrapSamples; ++round) {
    for (size_t& item : sample) item = random() % items;
    losses.push_back(loss_of(sample));
  }
  std::sort(losses.begin(), losses.end());
  return {loss, losses[kBootstrapSamples / 40],
          losses[kBootstrapSamples - 1 - kBootstrapSamples / 40]};
}

LabelQuality label_quality(const LabelAnswers& answers) {
  return {{accuracy(answers.right, answers.float32), accuracy(answers.right, answers.int8)},
          {f1_macro(answers.right, answers.float32), f1_macro(answers.right, answers.int8)},
          matched_loss(answers)};
}

double spearman(std::span<const double> a, std::span<const double> b) {
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double mean = static_cast<double>(a.size() - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx == 0 || yy == 0 ? 0 : xy / std::sqrt(xx * yy);
}

ScoreQuality score_quality(const PairScores& scores) {
  const auto loss_of = [&](std::span<const size_t> pairs) {
    PairScores sample;
    for (const size_t pair : pairs) {
      sample.gold.push_back(scores.gold[pair]);
      sample.float32.push_back(scores.float32[pair]);
      sample.int8.push_back(scores.int8[pair]);
    }
    return spearman(sample.gold, sample.float32) - spearman(sample.gold, sample.int8);
  };
  return {{spearman(scores.gold, scores.float32), spearman(scores.gold, scores.int8)},
          bootstrapped_loss(scores.gold.size(), loss_of)};
}

}  // namespace embert::hosted
