// SPDX-License-Identifier: Apache-2.0
// Dense layers on 16-bit rows (kernels/contracts/convert_rows.hpp): a row goes in as two planes of 8 bits, and
// the sums are joined. Heads and the keys and values of cross-attention are such layers.
#pragma once

#include "converter/quantize/rounding/round_dense.hpp"

namespace embert::convert {

/// Largest magnitude of a 16-bit row in two planes.
inline constexpr double kMostInPlanes = 32512;

/// Places that a joined sum over `inputs` values loses so that it fits 32 bits.
int planes_join_shift(std::size_t inputs);
/// Domain of rows with step `step`: its own step is that of joined sums.
ChannelQuant planes_domain(std::size_t inputs, double step);
/// A layer on such rows, with room for its bias beside joined sums.
DenseSource planes_source(const std::string& name, const std::vector<const Linear*>& linears,
                          const ChannelQuant& domain, const InputRows& rows);

}  // namespace embert::convert
