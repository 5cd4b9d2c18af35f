// SPDX-License-Identifier: Apache-2.0
// One tile of the GEMM on 512 bits, and the work that another kernel does beside it.
#pragma once

#include <immintrin.h>

#include "kernels/contracts/gemm.hpp"
#include "kernels/x86/lanes_avx512.hpp"

namespace embert {
namespace {

constexpr size_t kTileRows = 8;

// One row more than whole tiles: a tile of 9 rows takes it without another tile. Its 27 sums, 3
// weights and 1 input are in 31 of the 32 registers. On an Intel Xeon (family 6, model 207) MiniLM
// with 9 tokens is 4 % faster than with tiles of 9 rows x 2 panels, with 25 tokens 2 to 3 %.
EMBERT_INLINE bool has_ninth_row(size_t rows) { return rows > kTileRows && rows % kTileRows == 1; }

/// The number of tiles that take m rows. They get equal numbers of rows: 4 + 5 keep the multipliers
/// busier than 8 + 1.
EMBERT_INLINE size_t tiles_of_rows(size_t m) {
  return has_ninth_row(m) ? m / kTileRows : (m + kTileRows - 1) / kTileRows;
}

/// A tile begins at row i and column j of the product; its sums go to dst.
struct TilePlace {
  size_t i, j;  ///< first row and column
  int32_t* dst;
  size_t dst_stride;  ///< elements
};

/// start[p] = the sums of panel p before the first input: bias and the correction of signed inputs.
template <size_t Panels>
EMBERT_INLINE void start_sums(const GemmArgs& args, size_t j, __m512i* start) {
  for (size_t p = 0; p < Panels; ++p) {
    const size_t column = j + p * kPanelColumns;
    start[p] =
        args.bias != nullptr ? _mm512_loadu_si512(args.bias + column) : _mm512_setzero_si512();
    if (args.lhs_type == LhsType::kSigned) {
      start[p] = _mm512_add_epi32(
          start[p], _mm512_mullo_epi32(_mm512_loadu_si512(args.sums + column),
                                       _mm512_set1_epi32(lhs_correction(LhsType::kSigned))));
    }
  }
}

/// Nothing is done beside a tile.
struct Nothing {
  static constexpr size_t rows = 0;
  void finish(size_t) const {}
};

/// The sums of one tile; they begin at start. beside.finish(row) for each of beside.rows rows
/// is spread over the loop over k: its instructions run while the multipliers' results are awaited.
/// The loops over rows and panels unroll completely. The loop over k does not need to: it adds 4
/// instructions to 12 cycles. noinline: gcc 12 spills where several tiles share one register
/// allocation. Seen in its code: a step of 8 rows x 3 panels or 6 x 4 has 40 instructions for 24
/// products; of 9 x 2, beside which other work is done, 34 for 18. No vector is on the stack; 9 x 3
/// reloads two pointers from it, 6 x 4 one.
template <size_t Rows, size_t Panels, typename Beside>
[[gnu::noinline]] void tile(const GemmArgs& args, const TilePlace& at, const __m512i* start,
                            const Beside& beside) {
  const size_t k = args.k, lhs_stride = args.lhs_stride, panel_stride = k * kPanelColumns;
  const uint8_t* lhs = args.lhs + at.i * lhs_stride;
  const int8_t* rhs = args.rhs + at.j * k;
  // The next tile of columns is in L2 when its turn comes: each tile of rows fetches one panel. A
  // single tile of rows fetches what it has: with few rows the processor's own prefetching does
  // better (4 tokens of MiniLM: 6 %).
  const size_t tile_of_rows = (at.i + kTileRows - 1) / kTileRows;
  const size_t ahead =
      args.m <= kTileRows + 1 ? 0 : (Panels + tile_of_rows % Panels) * panel_stride;
  __m512i sum[Rows][Panels];
#pragma GCC unroll 9
  for (size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
    for (size_t p = 0; p < Panels; ++p) sum[r][p] = start[p];
  }
  const size_t part = beside.rows == 0 ? k : k / kStepInputs / beside.rows * kStepInputs;
  size_t c = 0;
  for (size_t row = 0;; ++row) {
    const size_t end = row < beside.rows ? c + part : k;
    for (; c < end; c += kStepInputs, rhs += kStepBytes) {
      _mm_prefetch(rhs + ahead, _MM_HINT_T1);
      __m512i weights[Panels];
#pragma GCC unroll 4
      for (size_t p = 0; p < Panels; ++p) weights[p] = _mm512_load_si512(rhs + p * panel_stride);
#pragma GCC unroll 9
      for (size_t r = 0; r < Rows; ++r) {
        int32_t inputs;
        __builtin_memcpy(&inputs, lhs + r * lhs_stride + c, sizeof(inputs));
        const __m512i broadcast = _mm512_set1_epi32(inputs);
#pragma GCC unroll 4
        for (size_t p = 0; p < Panels; ++p) {
          sum[r][p] = _mm512_dpbusd_epi32(sum[r][p], broadcast, weights[p]);
        }
      }
    }
    if (row >= beside.rows) break;
    beside.finish(row);
  }
  int32_t* dst = at.dst;
#pragma GCC unroll 9
  for (size_t r = 0; r < Rows; ++r, dst += at.dst_stride) {
#pragma GCC unroll 4
    for (size_t p = 0; p < Panels; ++p) _mm512_store_si512(dst + p * kPanelColumns, sum[r][p]);
  }
}

}  // namespace
}  // namespace embert
