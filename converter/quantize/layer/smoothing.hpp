// SPDX-License-Identifier: Apache-2.0
// Smoothing: a factor per channel moves part of an activation's imbalance into the weights that
// read it, so that one 8-bit scale serves all channels (SmoothQuant, Xiao et al. 2022, section 4).
// The algebra is exact, and the runtime pays nothing for it.
#pragma once

#include <span>
#include <vector>

#include "converter/model/calibration_ranges.hpp"
#include "converter/model/channel_quant.hpp"
#include "converter/model/model_weights.hpp"

namespace embert::convert {

/// The matrices that read one activation. They have the same inputs.
using Readers = std::span<const Matrix* const>;
using Norms = std::span<const LayerNorm* const>;

/// [inputs] the largest weight of each input, relative to the largest weight of its row.
std::vector<double> relative_column_weights(Readers readers);

/// Magnitudes by channel, of an activation and of the weights that read it.
struct Imbalance {
  std::vector<double> activation, weight;  ///< [inputs]
};
/// activation^alpha / weight^(1 - alpha) (SmoothQuant, equation 4), divided by the geometric mean.
/// Magnitudes below 1e-3 of the largest count as that. `alpha` is the migration strength, 0 to 1.
std::vector<double> smoothing_factors(Imbalance imbalance, double alpha);

/// How the input of `readers` is written: centred on the range, smoothed, and shifted by up to
/// half a code so that the mean of the first token lies on the grid. Attention uses the first token
/// as a sink, and the others' values are sensitive to its error. `norms`: the LayerNorms that write
/// it, in turn where layers share weights; none where a dense layer does. Without readers the
/// channels keep their own reach.
ChannelQuant channel_quant(const ChannelRange& range, Norms norms, Readers readers, double alpha);

/// How the 16-bit attention context is written, without offsets. `largest`: [A] magnitudes,
/// `value_scale`: scale of the 16-bit values.
ChannelQuant context_quant(std::span<const float> largest, const Matrix& out_weights, double alpha,
                           double value_scale);

}  // namespace embert::convert
