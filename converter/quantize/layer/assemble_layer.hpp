// SPDX-License-Identifier: Apache-2.0
// The integers of a layer from its domains and rounded weights.
#pragma once

#include <cstddef>

#include "converter/model/quantized_model.hpp"
#include "converter/quantize/rounding/round_layer.hpp"

namespace embert::convert {

struct AssembledLayer {
  QuantizedLayer layer;
  double sum_step = 1;     ///< real value of a unit of the layer's last sum, input of the next norm
  std::size_t copies = 0;  ///< intermediate channels added for wide columns
};

/// `sum_step`: real value of a unit of the residual sum in front of the layer.
AssembledLayer assemble_layer(const LayerSource& source, const LayerScales& steps,
                              const RoundedLayer& parts, double sum_step);

}  // namespace embert::convert
