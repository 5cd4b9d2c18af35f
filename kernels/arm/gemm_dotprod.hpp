// SPDX-License-Identifier: Apache-2.0
// The steps of the dotprod GEMM: a dense layer packs its rows once and then multiplies some columns
// at a time, where the GEMM does all of them. gemm_dotprod.cpp has the tiles.
#pragma once

#include "kernels/contracts/gemm.hpp"

namespace embert {

/// Bytes of packed rows on the stack: 32 rows of 1536 inputs.
constexpr size_t kDotprodBytes = 48 * 1024;
/// The most columns at a time, whose sums' starts are prepared together.
constexpr size_t kDotprodColumns = 256;

/// Packs the rows, m * k at most kDotprodBytes, but for up to 3 that fit no tile.
/// packed: [kDotprodBytes / 4].
void dotprod_pack_rows(const GemmArgs& args, int32_t* packed);
/// The sums of columns j .. j + n - 1, n a multiple of 16 up to kDotprodColumns. dst is the sum of
/// row 0 and column j, with rows args.dst_stride apart.
void dotprod_multiply(const GemmArgs& args, const int32_t* packed, size_t j, size_t n,
                      int32_t* dst);

}  // namespace embert
