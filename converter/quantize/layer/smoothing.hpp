// SPDX-License-Identifier: Apache-2.0
// The numbers in which a GEMM reads its input: an offset and a factor a channel and one step
// (kernels/README.md). A LayerNorm can give its output in any such domain for free, and the factors
// go into the weights, so they are chosen such that the 8-bit grid fits the channels that matter.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "converter/model/calibration_ranges.hpp"
#include "converter/model/channel_quant.hpp"
#include "converter/model/model_weights.hpp"

namespace embert::convert {

/// Factor 1 and offset 0 in every channel.
ChannelQuant plain_domain(std::size_t inputs, double step);

/// For each input, its largest weight relative to the largest of that weight's row. All matrices
/// have the same inputs.
std::vector<double> relative_column_weights(std::span<const Matrix* const> matrices);

/// amplitude^power / weight^(1 - power), of values at least 1e-3 of their largest, normalised.
std::vector<double> fold_factors(std::vector<double> amplitude, std::vector<double> weight,
                                 double power);

/// Domain of the output of `norm` as input of `matrices`: centred on the range, folded, and moved
/// so that the mean of the first token, which attention uses as a sink, lies on the grid.
ChannelQuant plan_norm_output(const ChannelRange& range, const LayerNorm& norm,
                              std::span<const Matrix* const> matrices, double power);

/// Domain of the attention context: no offset; step is that of the 16-bit context.
ChannelQuant plan_context(std::span<const float> largest, const Matrix& output_weights,
                          double power, double value_step);

/// The smallest step of a LayerNorm's 16-bit output for which its gain and bias stay in range.
double least_norm_step(const LayerNorm& norm, std::span<const double> offset,
                       std::span<const double> factor);

}  // namespace embert::convert
