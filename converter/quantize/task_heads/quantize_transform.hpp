// SPDX-License-Identifier: Apache-2.0
// A head's dense layer, activation function and LayerNorm (BlobHeadTransform).
#pragma once

#include <string>

#include "converter/model/model_config.hpp"
#include "converter/quantize/task_heads/quantize_dense16.hpp"

namespace embert::convert {

struct TransformSource {
  const Linear& dense;
  const LayerNorm* norm;  ///< null: none
  HiddenAct act;
  double epsilon;             ///< of the LayerNorm
  const Matrix& input;        ///< [rows, H] calibration inputs
  double input_scale;         ///< of the 16-bit input
  float largest_sum;          ///< largest magnitude before the activation function
  const Matrix& output;       ///< [rows, H] calibration outputs
  double least_output_scale;  ///< with a LayerNorm; 0: any
  std::string name;           ///< for messages and errors
  std::string norm_name;
};

struct QuantizedTransformRows {
  QuantizedTransform transform;
  double scale;  ///< of the 16-bit rows that it makes
};
QuantizedTransformRows quantize_transform(const TransformSource& source,
                                          const Dense16Rounding& rounding);

}  // namespace embert::convert
