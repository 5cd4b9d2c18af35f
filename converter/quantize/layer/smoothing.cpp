// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/layer/smoothing.hpp"

#include <algorithm>
#include <cmath>

namespace embert::convert {
namespace {

constexpr double kLeastShare = 1e-3;  // of the largest, for channels that hardly count
constexpr double kNarrowing = 128;    // steps of the 16-bit output in one of the 8-bit input

// Nothing below a share of the largest; all ones where everything is zero.
void lift(std::vector<double>& values) {
  const double most = *std::max_element(values.begin(), values.end());
  for (double& v : values) v = most > 0 ? std::max(v, kLeastShare * most) : 1.0;
}

// Moves the offset so that `mean` is a whole number of steps away from it.
void align(ChannelQuant& domain, std::span<const double> mean) {
  for (std::size_t c = 0; c < domain.offset.size(); ++c) {
    const double step = domain.factor[c] * domain.scale;
    const double steps = (mean[c] - domain.offset[c]) / step;
    domain.offset[c] += (steps - std::floor(steps + 0.5)) * step;
  }
}

}  // namespace

ChannelQuant plain_domain(std::size_t inputs, double step) {
  return {std::vector<double>(inputs, 0.0), std::vector<double>(inputs, 1.0), step};
}

std::vector<double> relative_column_weights(std::span<const Matrix* const> matrices) {
  std::vector<double> most(matrices.front()->cols, 0.0);
  for (const Matrix* matrix : matrices) {
    for (std::size_t n = 0; n < matrix->rows; ++n) {
      const float* row = matrix->row(n);
      double row_most = 0;
      for (std::size_t c = 0; c < matrix->cols; ++c) {
        row_most = std::max(row_most, static_cast<double>(std::fabs(row[c])));
      }
      if (row_most == 0) continue;
      for (std::size_t c = 0; c < matrix->cols; ++c) {
        most[c] = std::max(most[c], static_cast<double>(std::fabs(row[c])) / row_most);
      }
    }
  }
  return most;
}

std::vector<double> fold_factors(std::vector<double> amplitude, std::vector<double> weight,
                                 double power) {
  lift(amplitude);
  lift(weight);
  std::vector<double> logs(amplitude.size());
  double sum = 0;
  for (std::size_t c = 0; c < logs.size(); ++c) {
    logs[c] = power * std::log(amplitude[c]) - (1 - power) * std::log(weight[c]);
    sum += logs[c];
  }
  const double mean = sum / static_cast<double>(logs.size());
  for (double& value : logs) value = std::exp(value - mean);
  return logs;
}

double least_norm_step(const LayerNorm& norm, std::span<const double> offset,
                       std::span<const double> factor) {
  double least = 0;
  for (std::size_t c = 0; c < factor.size(); ++c) {
    const double gain = std::fabs(static_cast<double>(norm.gamma[c])) / factor[c];
    const double bias = std::fabs(static_cast<double>(norm.beta[c]) - offset[c]) / factor[c];
    // A shift of 8 must do: gain * 2^8 < 2^31 and bias * 2 < 2^29, with room for rounding.
    least = std::max({least, gain * 0x1p-22, bias * 0x1p-27});
  }
  return least > 0 ? least : 0x1p-40;
}

ChannelQuant plan_norm_output(const ChannelRange& range, const LayerNorm& norm,
                              std::span<const Matrix* const> matrices, double power) {
  const std::size_t channels = range.lowest.size();
  ChannelQuant domain;
  domain.offset.resize(channels);
  std::vector<double> amplitude(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    const double lowest = range.lowest[c], highest = range.highest[c];
    domain.offset[c] = (lowest + highest) / 2;
    amplitude[c] = (highest - lowest) / 2;
  }
  domain.factor = fold_factors(amplitude, relative_column_weights(matrices), power);
  domain.scale = least_norm_step(norm, domain.offset, domain.factor) * kNarrowing;
  for (std::size_t c = 0; c < channels; ++c) {
    domain.scale = std::max(domain.scale, amplitude[c] / domain.factor[c] / 127);
  }
  align(domain, range.first_mean);
  domain.scale *= 127.5 / 127;  // moved by up to half a step, the ends must still be in reach
  align(domain, range.first_mean);
  return domain;
}

ChannelQuant plan_context(std::span<const float> largest, const Matrix& output_weights,
                          double power, double value_step) {
  const Matrix* matrices[] = {&output_weights};
  std::vector<double> amplitude(largest.begin(), largest.end());
  ChannelQuant domain;
  domain.offset.assign(amplitude.size(), 0.0);
  domain.factor = fold_factors(amplitude, relative_column_weights(matrices), power);
  domain.scale = 0;
  for (std::size_t c = 0; c < amplitude.size(); ++c) {
    // The context is an average of values, so its step need not be finer than 2^-16 of theirs.
    domain.scale = std::max({domain.scale, 2 * amplitude[c] / domain.factor[c] / 32767,
                             value_step * 0x1p-16 / domain.factor[c]});
  }
  return domain;
}

}  // namespace embert::convert
