// SPDX-License-Identifier: Apache-2.0
// A dense layer on 16-bit rows (two_planes.hpp): the layers of the task heads, and the projection
// between two stacks.
#pragma once

#include <string>
#include <vector>

#include "converter/model/channel_quant.hpp"
#include "converter/model/conversion.hpp"
#include "converter/model/model_weights.hpp"
#include "converter/model/quantized_model.hpp"

namespace embert::convert {

struct Dense16Source {
  const Linear& linear;
  const Matrix& rows;   ///< [rows, inputs] calibration inputs, real
  double input_scale;   ///< of the 16-bit input
  double output_scale;  ///< of the 32-bit output
  std::string name;     ///< for messages and errors
  /// Null, or the scale and offset of each column, in place of output_scale.
  const ChannelQuant* output = nullptr;
};

/// How weights are rounded, and where errors and warnings of that go.
struct Dense16Rounding {
  Rounding rounding;
  std::vector<Dense16Error>& errors;
  std::vector<std::string>& warnings;
};

QuantizedDense16 quantize_dense16(const Dense16Source& source, const Dense16Rounding& rounding);

}  // namespace embert::convert
