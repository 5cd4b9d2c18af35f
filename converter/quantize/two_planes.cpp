// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/two_planes.hpp"

#include <cmath>

namespace embert::convert {

int planes_join_shift(std::size_t inputs) {
  int shift = 0;
  while (shift < 8 &&
         std::ldexp(static_cast<double>(inputs) * 127 * kMostInPlanes, -shift) >= 0x1p31) {
    ++shift;
  }
  return shift;
}

ChannelQuant planes_quant(std::size_t inputs, double row_scale) {
  return per_tensor_quant(inputs, std::ldexp(row_scale, planes_join_shift(inputs)));
}

DenseSource planes_source(const std::string& name, const std::vector<const Linear*>& linears,
                          const ChannelQuant& quant, const InputRows& rows) {
  std::vector<double> reach;
  for (const Linear* linear : linears) {
    for (std::size_t n = 0; n < linear->weight.rows; ++n) {
      // The correction of the bias moves a small part of the mean output into it.
      double most = std::fabs(static_cast<double>(linear->bias[n]));
      for (std::size_t c = 0; c < linear->weight.cols; ++c) {
        most += std::fabs(static_cast<double>(linear->weight.row(n)[c]) * rows.real_mean[c]) / 64;
      }
      reach.push_back(most);
    }
  }
  return {.name = name,
          .linears = linears,
          .input = &quant,
          .least_scale = scales_for_bias(reach, quant.scale)};
}

}  // namespace embert::convert
