// SPDX-License-Identifier: Apache-2.0
// Dense layers on 16-bit rows (kernels/contracts/convert_rows.hpp): a row enters the GEMM as two
// planes of 8 bits, and the two sums are joined. Task heads are such layers, and so are the keys
// and values of cross-attention.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "converter/model/channel_quant.hpp"
#include "converter/quantize/rounding/round_dense.hpp"

namespace embert::convert {

/// Largest magnitude of a 16-bit row in two planes.
inline constexpr double kMostInPlanes = 32512;

/// Low bits that a joined sum over `inputs` values loses so that it fits 32 bits.
int planes_join_shift(std::size_t inputs);
/// How rows of scale `row_scale` are read. The result's scale is that of the joined sums.
ChannelQuant planes_quant(std::size_t inputs, double row_scale);
/// A layer on such rows, its weights' scales large enough for the bias to fit beside joined sums.
DenseSource planes_source(const std::string& name, const std::vector<const Linear*>& linears,
                          const ChannelQuant& quant, const InputRows& rows);

}  // namespace embert::convert
