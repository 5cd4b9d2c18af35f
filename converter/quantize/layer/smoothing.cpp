// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/layer/smoothing.hpp"

#include <algorithm>
#include <cmath>

#include "converter/arithmetic/elementary.hpp"
#include "converter/quantize/encode_integers.hpp"

namespace embert::convert {
namespace {

constexpr double kLeastShare = 1e-3;  // of the largest magnitude
constexpr double kNarrowing = 128;  // scale of the 8-bit input / scale of the norm's 16-bit output

// Raises small magnitudes to a share of the largest; all become 1 where everything is zero.
void raise_small(std::vector<double>& magnitudes) {
  const double most = *std::max_element(magnitudes.begin(), magnitudes.end());
  for (double& v : magnitudes) v = most > 0 ? std::max(v, kLeastShare * most) : 1.0;
}

// Shifts the offsets so that `mean` is a whole number of codes away from them.
void align_to_grid(ChannelQuant& quant, std::span<const double> mean) {
  for (std::size_t c = 0; c < quant.offset.size(); ++c) {
    const double scale = quant.factor[c] * quant.scale;
    const double code = (mean[c] - quant.offset[c]) / scale;
    quant.offset[c] += (code - std::floor(code + 0.5)) * scale;
  }
}

}  // namespace

std::vector<double> relative_column_weights(Readers readers) {
  std::vector<double> most(readers.front()->cols, 0.0);
  for (const Matrix* matrix : readers) {
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

std::vector<double> smoothing_factors(Imbalance imbalance, double alpha) {
  raise_small(imbalance.activation);
  raise_small(imbalance.weight);
  std::vector<double> factors(imbalance.activation.size());
  double sum = 0;
  for (std::size_t c = 0; c < factors.size(); ++c) {
    factors[c] =
        alpha * ieee::log(imbalance.activation[c]) - (1 - alpha) * ieee::log(imbalance.weight[c]);
    sum += factors[c];
  }
  const double mean = sum / static_cast<double>(factors.size());
  for (double& factor : factors) factor = ieee::exp(factor - mean);
  return factors;
}

ChannelQuant channel_quant(const ChannelRange& range, Norms norms, Readers readers, double alpha) {
  const std::size_t channels = range.lowest.size();
  ChannelQuant quant;
  quant.offset.resize(channels);
  std::vector<double> amplitude(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    const double lowest = range.lowest[c], highest = range.highest[c];
    quant.offset[c] = (lowest + highest) / 2;
    amplitude[c] = (highest - lowest) / 2;
  }
  quant.factor = smoothing_factors({.activation = amplitude,
                                    .weight = readers.empty() ? std::vector<double>(channels, 1.0)
                                                              : relative_column_weights(readers)},
                                   alpha);
  quant.scale = kLeastScale;
  for (const LayerNorm* norm : norms) {
    quant.scale = std::max(quant.scale, least_norm_scale(*norm, quant) * kNarrowing);
  }
  for (std::size_t c = 0; c < channels; ++c) {
    quant.scale = std::max(quant.scale, amplitude[c] / quant.factor[c] / 127);
  }
  align_to_grid(quant, range.first_mean);
  // The offsets move by up to half a code; both ends of the range must stay within 127 codes.
  quant.scale *= 127.5 / 127;
  align_to_grid(quant, range.first_mean);
  return quant;
}

ChannelQuant context_quant(std::span<const float> largest, const Matrix& out_weights, double alpha,
                           double value_scale) {
  const Matrix* readers[] = {&out_weights};
  const std::vector<double> amplitude(largest.begin(), largest.end());
  ChannelQuant quant;
  quant.offset.assign(amplitude.size(), 0.0);
  quant.factor = smoothing_factors(
      {.activation = amplitude, .weight = relative_column_weights(readers)}, alpha);
  quant.scale = kLeastScale;
  for (std::size_t c = 0; c < amplitude.size(); ++c) {
    // The context is an average of values: 2^-16 of their scale is fine enough.
    quant.scale = std::max({quant.scale, 2 * amplitude[c] / quant.factor[c] / 32767,
                            value_scale * 0x1p-16 / quant.factor[c]});
  }
  return quant;
}

}  // namespace embert::convert
