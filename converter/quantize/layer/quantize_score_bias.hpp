// SPDX-License-Identifier: Apache-2.0
// The table of score biases that all layers share (StackConfig::score_bias). The integers have one
// scale; a ratio for each attention head of each layer brings them to the scale of its scores.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "converter/model/matrix.hpp"
#include "converter/quantize/layer/quantize_relative_positions.hpp"
#include "runtime/format/blob_format.hpp"

namespace embert::convert {

/// Within +-kMaxScoreBias.
std::vector<std::int32_t> quantize_score_bias(const Matrix& bias);

/// Raises the scales of keys so far that no score with its bias reaches kScoreBound.
void make_room_for_bias(const Matrix& bias, std::size_t head_size, HeadScales& scales);

/// The ratios [heads] of a layer with these scales, and their shifts.
std::vector<std::int32_t> encode_bias_ratios(const Matrix& bias, std::size_t head_size,
                                             const HeadScales& scales, const std::string& name,
                                             BlobShifts& shifts);

}  // namespace embert::convert
