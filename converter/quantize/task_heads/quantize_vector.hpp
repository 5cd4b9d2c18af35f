// SPDX-License-Identifier: Apache-2.0
// The vector of a text as integers: poolings side by side, and Dense modules on 16-bit rows.
#pragma once

#include "converter/model/pooling_config.hpp"
#include "converter/quantize/task_heads/quantize_dense16.hpp"
#include "converter/reference/float_vector.hpp"

namespace embert::convert {

struct VectorSource {
  const PoolingConfig& pooling;
  const VectorRows& pooled;  ///< pool_float() of the calibration texts, at least one
  double hidden_scale;       ///< of the last hidden state
};

QuantizedVector quantize_vector(const VectorSource& source, const Dense16Rounding& rounding);

}  // namespace embert::convert
