// SPDX-License-Identifier: Apache-2.0
// The integers of a layer, from its scales and rounded weights.
#pragma once

#include <cstddef>

#include "converter/model/quantized_model.hpp"
#include "converter/quantize/rounding/round_layer.hpp"

namespace embert::convert {

struct AssembledLayer {
  QuantizedLayer layer;
  double sum_scale = 1;    ///< of the residual sum after the layer, which the next norm reads
  std::size_t copies = 0;  ///< intermediate channels that outlier channel splitting added
};

/// `sum_scale`: that of the residual sum before the layer. `next_input`: how its output is read,
/// where no LayerNorm stands between. The layer's input norm is not made here:
/// layers that share weights may have different ones.
AssembledLayer assemble_layer(const LayerSource& source, const LayerScales& scales,
                              const RoundedLayer& parts, double sum_scale,
                              const ChannelQuant& next_input);

}  // namespace embert::convert
