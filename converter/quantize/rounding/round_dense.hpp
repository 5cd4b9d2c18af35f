// SPDX-License-Identifier: Apache-2.0
// A dense layer's weights in 8 bits, and a bias that corrects the mean output for the rounding
// error (bias correction, Nagel et al. 2019, section 4.2): from float weights and calibration rows
// of the layer's input.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "converter/model/channel_quant.hpp"
#include "converter/model/model_weights.hpp"
#include "converter/model/quantized_rows.hpp"
#include "converter/quantize/rounding/gptq.hpp"
#include "converter/quantize/rounding/outlier_splitting.hpp"

namespace embert::convert {

/// Calibration rows of a layer's input.
struct InputRows {
  std::size_t count = 0;
  std::vector<double> real_mean;      ///< [inputs] of the float values, not smoothed
  std::vector<double> smoothed_mean;  ///< [inputs] of the rows as the layer reads them
  std::function<void(std::size_t row, float* x)> read;
};
/// They refer to `rows`, which must outlive them.
InputRows input_rows(const QuantizedRows& rows);
InputRows input_rows(const Matrix& rows);

struct DenseSource {
  std::string name;                     ///< for messages
  std::vector<const Linear*> linears;   ///< they read one input; their outputs are stacked
  const ChannelQuant* input = nullptr;  ///< null: not smoothed
  OutlierCopies copies{};               ///< of inputs that hold outliers
  std::vector<std::uint8_t> group{};    ///< RoundingProblem::group, not with copies
  std::vector<double> least_scale{};    ///< [outputs] lower bounds of the weights' scales, or empty
};

struct RoundedDense {
  RoundedWeights codes;
  std::vector<double> scale;  ///< [groups, outputs] real smoothed weight of a code
  /// [groups, outputs] real. On calibration rows the first group's makes the mean of its output
  /// that of the float model, the second group's makes the mean of what it adds 0.
  std::vector<double> bias;
  /// Largest magnitude that the second group and its bias add to an output on calibration rows.
  double second_reach = 0;
  double relative_error = 0;  ///< of the output, from the rounding of weights alone
};
RoundedDense round_dense(DenseSource source, const InputRows& rows, Rounding rounding);

/// [outputs] of the float layer for the mean of its input.
std::vector<double> mean_output(const std::vector<const Linear*>& linears,
                                const std::vector<double>& mean);
/// [outputs] the weights' scales with which a bias of the magnitude `reach` fits beside the sum.
/// `input_scale`: that of the input's codes.
std::vector<double> scales_for_bias(const std::vector<double>& reach, double input_scale);

}  // namespace embert::convert
