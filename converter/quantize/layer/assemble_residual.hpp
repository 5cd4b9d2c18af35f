// SPDX-License-Identifier: Apache-2.0
// The integers of a dense layer whose output is added to a residual
// (kernels/contracts/residual.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "converter/model/channel_quant.hpp"
#include "converter/model/quantized_model.hpp"
#include "converter/quantize/rounding/round_dense.hpp"

namespace embert::convert {

bool all_zero(const std::int16_t* row, std::size_t count);
std::vector<std::int8_t> byte_codes(const RoundedDense& rounded);

/// sum = W input + gain * residual
struct ResidualSource {
  const RoundedDense& rounded;
  std::vector<std::int8_t> weights;  ///< [outputs, columns] codes of `rounded`, outliers split
  std::size_t first_columns = 0;     ///< of two groups; 0: there is one
  double input_scale;                ///< of the row's maximum times its 8-bit codes
  const ChannelQuant* residual;      ///< as the 16-bit sum is read: 128 units are one code; or null
  const std::vector<float>& gain;    ///< [outputs] of the residual; empty: ones
  const ChannelQuant* output;        ///< the same of the sum; null: one scale for all channels
  float largest_sum = 0;             ///< on calibration texts; for one scale
  double epsilon = 0;                ///< of the LayerNorm that reads the sum; for one scale
  std::string name;
};

struct ResidualLayer {
  QuantizedDense dense;
  QuantizedDense second;  ///< adds the second group of columns to the sum, or empty
  BlobShifts shifts{};    ///< of both
  double sum_scale = 1;   ///< where all channels have one
};

ResidualLayer assemble_residual(ResidualSource source);

}  // namespace embert::convert
