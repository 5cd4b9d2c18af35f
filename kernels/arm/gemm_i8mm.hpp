// SPDX-License-Identifier: Apache-2.0
// The steps of the i8mm GEMM: a dense layer packs its rows once and then multiplies some columns at
// a time, where the GEMM does all of them. gemm_i8mm.cpp has the tiles.
#pragma once

#include "kernels/contracts/gemm.hpp"

namespace embert {

/// Most rows of a chunk.
constexpr size_t kI8mmRows = 32;
/// Packed operands: 32 rows and a panel of 1536 inputs.
constexpr size_t kI8mmBytes = 72 * 1024;

/// Some inputs of some rows, packed, and room behind them for weights.
struct I8mmChunk {
  size_t i, m;     ///< rows i .. i + m - 1, m in 1..kI8mmRows
  size_t c, k;     ///< inputs c .. c + k - 1, k at most i8mm_most_inputs(m)
  int8_t* packed;  ///< [kI8mmBytes], 64-byte aligned
};

/// The most inputs of m rows that leave room for a panel: a multiple of 16.
size_t i8mm_most_inputs(size_t m);
/// Columns whose weights fit the room behind the rows, 16 to 256.
size_t i8mm_most_columns(const I8mmChunk& chunk);
/// Packs the chunk's rows.
void i8mm_pack_rows(const GemmArgs& args, const I8mmChunk& chunk);
/// The chunk's part of the sums of columns j .. j + n - 1, n a multiple of 16 up to
/// i8mm_most_columns(). dst is the sum of row i and column j. From the second chunk of inputs on it
/// adds to dst.
void i8mm_multiply(const GemmArgs& args, const I8mmChunk& chunk, size_t j, size_t n, int32_t* dst);

}  // namespace embert
