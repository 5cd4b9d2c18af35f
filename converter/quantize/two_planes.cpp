// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/two_planes.hpp"

#include <cmath>

#include "converter/quantize/layer/smoothing.hpp"

namespace embert::convert {

int planes_join_shift(std::size_t inputs) {
  int shift = 0;
  while (shift < 8 &&
         std::ldexp(static_cast<double>(inputs) * 127 * kMostInPlanes, -shift) >= 0x1p31) {
    ++shift;
  }
  return shift;
}

ChannelQuant planes_domain(std::size_t inputs, double step) {
  return plain_domain(inputs, std::ldexp(step, planes_join_shift(inputs)));
}

DenseSource planes_source(const std::string& name, const std::vector<const Linear*>& linears,
                          const ChannelQuant& domain, const InputRows& rows) {
  std::vector<double> reach;
  for (const Linear* linear : linears) {
    for (std::size_t n = 0; n < linear->weight.rows; ++n) {
      // Rounding moves a small part of the mean output into the bias.
      double most = std::fabs(static_cast<double>(linear->bias[n]));
      for (std::size_t c = 0; c < linear->weight.cols; ++c) {
        most += std::fabs(static_cast<double>(linear->weight.row(n)[c]) * rows.real_mean[c]) / 64;
      }
      reach.push_back(most);
    }
  }
  return {name, linears, &domain, false, steps_for_bias(reach, domain.scale)};
}

}  // namespace embert::convert
