// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/embeddings_4bit.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <span>

#include "converter/quantize/encode_integers.hpp"
#include "kernels/arithmetic/word_4bit.hpp"

namespace embert::convert {
namespace {

constexpr std::size_t kFitRows = 4096;  // rows to which the levels are fitted, evenly spread
constexpr int kFitRounds = 10;
constexpr std::size_t kRowsTogether = 1024;  // of one task
constexpr float kLargestLevel = 127, kLargestScale = 127;
// A group's scale is sought from kLeastReach to kMostReach times the one with which its largest
// value is the largest level: shares of that range first, then single steps around the best.
constexpr float kLeastReach = 0.7F, kMostReach = 1.06F;
constexpr int kReachSteps = 6, kNearSteps = 3;

using Levels = std::array<float, kWordLevels>;  // ascending, the largest magnitude kLargestLevel

// A row in units of its multiplier, padded with zeros to whole groups.
struct ScaledRow {
  std::int32_t multiplier = 0;  // 0 for a row of zeros
  std::vector<float> values;    // [groups x kWordGroup]
};

ScaledRow scale_row(const float* row, std::size_t size, double scale) {
  ScaledRow out;
  out.values.resize(word_groups(size) * kWordGroup);
  const double largest = static_cast<double>(largest_magnitude({row, size}));
  const double row_scale =
      largest * static_cast<double>(kMostReach / kLargestLevel / kLargestScale);
  out.multiplier = static_cast<std::int32_t>(
      std::min(std::ceil(row_scale / scale * 0x1p16), static_cast<double>(kMaxWordMultiplier4Bit)));
  const double factor = out.multiplier > 0 ? 0x1p16 / (scale * out.multiplier) : 0;
  for (std::size_t c = 0; c < size; ++c) {
    out.values[c] = static_cast<float>(static_cast<double>(row[c]) * factor);
  }
  return out;
}

// Decodes the nearest codes of a group at a scale; `codes` may be null. Returns the squared error.
float round_group(const float* values, float scale, const Levels& levels, std::uint8_t* codes) {
  std::array<float, kWordGroup> x, nearest;
  std::array<std::int32_t, kWordGroup> code{};
  for (std::size_t i = 0; i < kWordGroup; ++i) {
    x[i] = values[i] / scale;
    nearest[i] = levels[0];
  }
  for (std::size_t k = 1; k < kWordLevels; ++k) {
    const float middle = (levels[k - 1] + levels[k]) / 2;
    for (std::size_t i = 0; i < kWordGroup;
         ++i) {  // without branches: this loop is most of the time
      const bool above = x[i] > middle;
      nearest[i] = above ? levels[k] : nearest[i];
      code[i] += above ? 1 : 0;
    }
  }
  float error = 0;
  for (std::size_t i = 0; i < kWordGroup; ++i) {
    const float difference = values[i] - nearest[i] * scale;
    error += difference * difference;
    if (codes != nullptr) codes[i] = static_cast<std::uint8_t>(code[i]);
  }
  return error;
}

struct ScaleSearch {
  const float* values;
  const Levels& levels;
  float best = 1, least_error = INFINITY;

  void consider(float scale) {
    scale = std::clamp(std::nearbyint(scale), -kLargestScale, kLargestScale);
    if (scale == 0) return;
    const float error = round_group(values, scale, levels, nullptr);
    if (error >= least_error) return;
    least_error = error;
    best = scale;
  }
};

// The integer scale of a group, in +-127 and not 0.
float choose_scale(const float* values, const Levels& levels) {
  ScaleSearch search{.values = values, .levels = levels};
  const float exact = largest_magnitude({values, kWordGroup}) / kLargestLevel;
  for (int step = 0; step <= kReachSteps; ++step) {
    const float share = static_cast<float>(step) / static_cast<float>(kReachSteps);
    const float scale = std::max(exact * (kLeastReach + share * (kMostReach - kLeastReach)), 1.0F);
    search.consider(scale);
    search.consider(-scale);
  }
  const float coarse = search.best;
  for (int step = 1; step <= kNearSteps; ++step) {
    search.consider(coarse + static_cast<float>(step));
    search.consider(coarse - static_cast<float>(step));
  }
  return search.best;
}

struct LevelFit {
  Levels levels;
  double error;  // of all rows, each relative to its power
};

// Levels of the largest magnitude kLargestLevel, as integers.
Levels normalised(Levels levels) {
  std::ranges::sort(levels);
  const float largest = std::max(std::abs(levels.front()), std::abs(levels.back()));
  for (float& level : levels) level = std::nearbyint(level * kLargestLevel / largest);
  return levels;
}

// Lloyd's algorithm: codes and scales for the levels, then each level is the mean of the values
// that it stands for. A LayerNorm follows, so rows count relative to their power.
LevelFit fit_levels(const std::vector<ScaledRow>& rows, const Levels& start) {
  LevelFit best{.levels = start, .error = INFINITY};
  Levels levels = start;
  for (int round = 0; round < kFitRounds; ++round) {
    std::array<double, kWordLevels> sums{}, weights{};
    double error = 0;
    for (const ScaledRow& row : rows) {
      double power = 0;
      for (const float x : row.values) power += static_cast<double>(x) * static_cast<double>(x);
      for (std::size_t at = 0; at < row.values.size() && power > 0; at += kWordGroup) {
        const float* values = row.values.data() + at;
        const float scale = choose_scale(values, levels);
        std::array<std::uint8_t, kWordGroup> codes{};
        error += static_cast<double>(round_group(values, scale, levels, codes.data())) / power;
        for (std::size_t i = 0; i < kWordGroup; ++i) {
          sums[codes[i]] += static_cast<double>(scale) * static_cast<double>(values[i]) / power;
          weights[codes[i]] += static_cast<double>(scale) * static_cast<double>(scale) / power;
        }
      }
    }
    if (error >= best.error) break;
    best = {.levels = levels, .error = error};
    for (std::size_t k = 0; k < kWordLevels; ++k) {
      if (weights[k] > 0) levels[k] = static_cast<float>(sums[k] / weights[k]);
    }
    levels = normalised(levels);
  }
  return best;
}

// Starts from even steps, which fit tables that were in 4 bits before, and from steps that grow
// from the middle to the ends, as the quantiles of a normal distribution do.
Levels choose_levels(const Matrix& tokens, double scale) {
  const std::size_t count = std::min(tokens.rows, kFitRows);
  std::vector<ScaledRow> rows;
  for (std::size_t i = 0; i < count; ++i) {
    rows.push_back(scale_row(tokens.row(i * tokens.rows / count), tokens.cols, scale));
  }
  Levels even, growing;
  for (std::size_t k = 0; k < kWordLevels; ++k) {
    const float x = (static_cast<float>(k) - 8) / 8;  // -1 .. 7/8
    even[k] = x;
    growing[k] = x * (0.6F + 0.4F * x * x);
  }
  const LevelFit a = fit_levels(rows, normalised(even)), b = fit_levels(rows, normalised(growing));
  return a.error <= b.error ? a.levels : b.levels;
}

void write_row(const ScaledRow& row, const Levels& levels, std::uint8_t* out) {
  const std::size_t groups = row.values.size() / kWordGroup;
  for (std::size_t g = 0; g < groups && row.multiplier > 0; ++g) {
    const float* values = row.values.data() + g * kWordGroup;
    const float scale = choose_scale(values, levels);
    std::array<std::uint8_t, kWordGroup> codes{};
    round_group(values, scale, levels, codes.data());
    for (std::size_t i = 0; i < kWordGroup; ++i) {
      const std::size_t c = g * kWordGroup + i;
      out[word_code_index(c)] |= static_cast<std::uint8_t>(codes[i] << word_code_shift(c));
    }
    out[groups * kWordGroupCodes + g] =
        std::bit_cast<std::uint8_t>(static_cast<std::int8_t>(scale));
  }
}

}  // namespace

void quantize_words_4bit(const Matrix& tokens, Workers& workers, QuantizedStack& out) {
  const double scale = static_cast<double>(std::bit_cast<float>(out.record.embedding_scale));
  const Levels levels = choose_levels(tokens, scale);
  const std::size_t row_bytes = word_row_bytes(tokens.cols);
  QuantizedEmbeddings4Bit table;
  table.rows.resize(tokens.rows * row_bytes);
  std::ranges::transform(levels, std::begin(table.record.levels),
                         [](float level) { return static_cast<std::int8_t>(level); });
  out.word_embeddings.clear();
  out.word_multipliers.assign(tokens.rows, 0);
  const std::size_t tasks = (tokens.rows + kRowsTogether - 1) / kRowsTogether;
  workers.run(tasks, [&](std::size_t task) {
    const std::size_t end = std::min(tokens.rows, (task + 1) * kRowsTogether);
    for (std::size_t id = task * kRowsTogether; id < end; ++id) {
      const ScaledRow row = scale_row(tokens.row(id), tokens.cols, scale);
      out.word_multipliers[id] = row.multiplier;
      write_row(row, levels, table.rows.data() + id * row_bytes);
    }
  });
  out.embeddings_4bit = std::move(table);
  out.record.flags |= kStackEmbeddings4Bit;
}

}  // namespace embert::convert
