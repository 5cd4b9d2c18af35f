// SPDX-License-Identifier: Apache-2.0
// A dense layer's weights in 8 bits, and the bias that makes up for what rounding changed: from
// float weights, the domain of its input and calibration rows of that input.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "converter/model/channel_quant.hpp"
#include "converter/model/model_weights.hpp"
#include "converter/model/quantized_rows.hpp"
#include "converter/quantize/rounding/gptq.hpp"

namespace embert::convert {

/// Rows that a layer reads, of calibration.
struct InputRows {
  std::size_t count = 0;
  std::vector<double> real_mean;      ///< [inputs] of the float values, not folded
  std::vector<double> smoothed_mean;  ///< [inputs] of the rows as the layer reads them
  std::function<void(std::size_t row, float* x)> read;
};
/// They view `rows`, which must outlive them.
InputRows input_rows(const QuantizedRows& rows);
InputRows input_rows(const Matrix& rows);

struct DenseSource {
  std::string name;                      ///< for messages
  std::vector<const Linear*> linears;    ///< with one input, outputs one below the other
  const ChannelQuant* domain = nullptr;  ///< of the input; null: not folded
  bool wide_columns = false;             ///< columns may take several bytes (wide_columns.hpp)
  std::vector<double> least_step{};      ///< [outputs] of a code's real weight; may be empty
};

/// Rounded weights; real bias such that the mean output on the calibration rows is that of the
/// float model.
struct RoundedDense {
  RoundedWeights codes;
  std::vector<double> step;   ///< [outputs] real folded weight of a code
  std::vector<double> bias;   ///< [outputs] to be added to dequantised input times codes
  double relative_error = 0;  ///< of the output, from the rounding of weights alone
};
RoundedDense round_dense(DenseSource source, const InputRows& rows, Rounding rounding);

/// [outputs] of the float layer for the mean of its input.
std::vector<double> mean_output(const std::vector<const Linear*>& linears,
                                const std::vector<double>& mean);
/// Steps of the weights with which the real value `reach` of each output's bias fits beside the
/// sum; `unit` is the real value of a unit of the sum for a weight of 1.
std::vector<double> steps_for_bias(const std::vector<double>& reach, double unit);

}  // namespace embert::convert
