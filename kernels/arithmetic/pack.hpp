// SPDX-License-Identifier: Apache-2.0
// Packs the right operand of a GEMM into n16k4 or n8k16 (layout.hpp), for the converter and for
// tests. The runtime reads packed weights in place and never packs.
#pragma once

#include <stdint.h>

#include "kernels/arithmetic/layout.hpp"

namespace embert {

/// weights [outputs][inputs], row-major -> packed, in the order, [pad_columns(outputs)] x
/// [pad_inputs(inputs)] bytes, padding zero; no overlap.
void pack_rhs(RhsOrder order, const int8_t* weights, size_t outputs, size_t inputs, int8_t* packed);

/// sums[n] = sum over k of weights[n][k], zero for n from outputs to pad_columns(outputs). |sum|
/// stays in int32 for any inputs below 2^24.
void column_sums(const int8_t* weights, size_t outputs, size_t inputs, int32_t* sums);

}  // namespace embert
