// SPDX-License-Identifier: Apache-2.0
// Chooses the scales of a layer's activations from the calibrated ranges.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "converter/model/channel_quant.hpp"
#include "converter/quantize/layer/layer_source.hpp"

namespace embert::convert {

/// `warnings` gets a line where inputs of the activation must be clipped.
LayerScales choose_layer_scales(const LayerSource& source, std::vector<std::string>& warnings);

/// How attention's inputs and the rows to which the layer's blocks add are written.
const ChannelQuant& query_key_input(const LayerSource& source, const LayerScales& scales);
const ChannelQuant& value_input(const LayerSource& source, const LayerScales& scales);
const ChannelQuant& intra_input(const LayerSource& source, const LayerScales& scales);

/// Scale of attention's 16-bit values. `largest`: their largest magnitude; `weight` makes them from
/// `input`.
double value_scale(float largest, const Matrix& weight, const ChannelQuant& input);

/// The activation's input and output have the scale 2^-exponent.
int activation_exponent(float largest_input);
std::int32_t activation_offset_q14(HiddenAct act);

}  // namespace embert::convert
