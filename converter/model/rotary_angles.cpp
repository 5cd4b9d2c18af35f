// SPDX-License-Identifier: Apache-2.0
#include "converter/model/rotary_angles.hpp"

#include "converter/arithmetic/elementary.hpp"

namespace embert::convert {

Matrix rotary_angles(const StackConfig& config, double theta) {
  const int size = config.head_size(), half = size / 2;
  Matrix out{
      static_cast<std::size_t>(config.max_position_embeddings), static_cast<std::size_t>(size), {}};
  for (int p = 0; p < config.max_position_embeddings; ++p) {
    for (int c = 0; c < size; ++c) {
      const double angle = p * ieee::pow(theta, -2.0 * (c % half) / size);
      out.data.push_back(static_cast<float>(c < half ? ieee::cos(angle) : ieee::sin(angle)));
    }
  }
  return out;
}

}  // namespace embert::convert
