// SPDX-License-Identifier: Apache-2.0
#include "kernels/arithmetic/pack.hpp"

#include <string.h>

namespace embert {

void pack_rhs(RhsOrder order, const int8_t* weights, size_t outputs, size_t inputs,
              int8_t* packed) {
  const size_t k_padded = pad_inputs(inputs);
  memset(packed, 0, pad_columns(outputs) * k_padded);
  for (size_t n = 0; n < outputs; ++n) {
    for (size_t k = 0; k < inputs; ++k) {
      packed[rhs_index(order, n, k, k_padded)] = weights[n * inputs + k];
    }
  }
}

void column_sums(const int8_t* weights, size_t outputs, size_t inputs, int32_t* sums) {
  for (size_t n = 0; n < pad_columns(outputs); ++n) {
    int32_t sum = 0;
    for (size_t k = 0; n < outputs && k < inputs; ++k) sum += weights[n * inputs + k];
    sums[n] = sum;
  }
}

}  // namespace embert
