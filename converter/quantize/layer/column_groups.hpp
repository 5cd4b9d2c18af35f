// SPDX-License-Identifier: Apache-2.0
// The second feed-forward layer reads its columns in two groups. A few channels of the activation
// reach much further than all others and decide the scale of a row. In a group of their own they
// leave the others a finer one, and the weights of each group have their own row scales.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "converter/quantize/rounding/outlier_splitting.hpp"

namespace embert::convert {

/// Columns of the first group.
inline constexpr std::size_t kFirstColumns = 128;

/// FeedForwardScales::group. `reach`: [channels] largest magnitude on calibration texts, in the
/// scale of the layer's input. Empty where two groups would not pay.
std::vector<std::uint8_t> choose_column_groups(std::span<const double> reach);

/// The columns of the first group, then those of the second, each in their order.
SplitWeights order_by_group(const RoundedWeights& rounded, const std::vector<std::uint8_t>& group);

}  // namespace embert::convert
