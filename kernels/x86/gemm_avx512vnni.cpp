// SPDX-License-Identifier: Apache-2.0
// VPDPBUSD on 512 bits, tiles of 8 rows x 48 columns: 24 sums, 3 weights, 1 input in registers. Two
// instructions a cycle need 11 loads in 12 cycles, which L1 and L2 deliver. Tiles of 6 x 64 and 12
// x 32 were no faster. Weights come from L3 once for each block of rows: fetching them into L2 a
// tile of columns ahead makes a pass of MiniLM with 128 tokens 2 % faster, 6 % beside programs that
// use L3, too. On Zen 5 a 512-bit store occupies the multipliers for a cycle, so the limit is k /
// (k + 8) of the instruction's peak. Measured there (tests/bench/gemm_bench), the limit in
// brackets: 97-99 % (98-99) at MiniLM's dense layers, 90-97 % with weights in L3, 94 % (94) at
// context, 72-79 % (80) at scores with k = 32.
#if !defined(__AVX512VNNI__)
#error "this file needs the flags of avx512vnni (kernels/sources.cmake)"
#endif
#include <immintrin.h>

#include "kernels/variants.hpp"

namespace embert {
namespace {

constexpr size_t kTileRows = 8;
constexpr size_t kTilePanels = 3;

// One row more than whole tiles: tiles of 9 rows x 2 panels (18 sums) take it without another tile.
// MiniLM with 9 tokens is 5 % faster than with tiles of 4 + 5 rows, with 25 tokens 2 %.
bool has_ninth_row(size_t rows) { return rows > kTileRows && rows % kTileRows == 1; }

// One tile from row i and column j on; its sums start at start. The loops over rows and panels
// unroll completely. The loop over k does not need to: it adds 4 instructions to 12 cycles.
// noinline: gcc 12 spills where several tiles share one register allocation.
template <size_t Rows, size_t Panels>
[[gnu::noinline]] void tile(const GemmArgs& args, size_t i, size_t j, const __m512i* start) {
  const size_t k = args.k, lhs_stride = args.lhs_stride, panel_stride = k * kPanelColumns;
  const uint8_t* lhs = args.lhs + i * lhs_stride;
  int32_t* dst = args.dst + i * args.dst_stride + j;
  const size_t dst_stride = args.dst_stride;
  const int8_t* rhs = args.rhs + j * k;
  // The next tile of columns is in L2 when its turn comes: each tile of rows fetches one panel. A
  // single tile of rows fetches what it has: with few rows the processor's own prefetching does
  // better (4 tokens of MiniLM: 6 %).
  const size_t tile_of_rows = (i + kTileRows - 1) / kTileRows;
  const size_t ahead =
      args.m <= kTileRows + 1 ? 0 : (Panels + tile_of_rows % Panels) * panel_stride;
  __m512i sum[Rows][Panels];
#pragma GCC unroll 9
  for (size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 3
    for (size_t p = 0; p < Panels; ++p) sum[r][p] = start[p];
  }
  for (size_t c = 0; c < k; c += kStepInputs, rhs += kStepBytes) {
    _mm_prefetch(rhs + ahead, _MM_HINT_T1);
    __m512i weights[Panels];
#pragma GCC unroll 3
    for (size_t p = 0; p < Panels; ++p) weights[p] = _mm512_load_si512(rhs + p * panel_stride);
#pragma GCC unroll 9
    for (size_t r = 0; r < Rows; ++r) {
      int32_t inputs;
      __builtin_memcpy(&inputs, lhs + r * lhs_stride + c, sizeof(inputs));
      const __m512i broadcast = _mm512_set1_epi32(inputs);
#pragma GCC unroll 3
      for (size_t p = 0; p < Panels; ++p) {
        sum[r][p] = _mm512_dpbusd_epi32(sum[r][p], broadcast, weights[p]);
      }
    }
  }
#pragma GCC unroll 9
  for (size_t r = 0; r < Rows; ++r, dst += dst_stride) {
#pragma GCC unroll 3
    for (size_t p = 0; p < Panels; ++p) _mm512_store_si512(dst + p * kPanelColumns, sum[r][p]);
  }
}

template <size_t Panels>
void row_tile(const GemmArgs& args, size_t rows, size_t i, size_t j, const __m512i* start) {
  switch (rows) {
    case 1:
      return tile<1, Panels>(args, i, j, start);
    case 2:
      return tile<2, Panels>(args, i, j, start);
    case 3:
      return tile<3, Panels>(args, i, j, start);
    case 4:
      return tile<4, Panels>(args, i, j, start);
    case 5:
      return tile<5, Panels>(args, i, j, start);
    case 6:
      return tile<6, Panels>(args, i, j, start);
    case 7:
      return tile<7, Panels>(args, i, j, start);
    case 8:
      return tile<8, Panels>(args, i, j, start);
    default:
      if constexpr (Panels < kTilePanels) return tile<9, Panels>(args, i, j, start);
  }
}

// All rows of some panels, so that tiles after the first read their weights from L1 or L2. Tiles
// get equal numbers of rows: 4 + 5 keep the multipliers busier than 8 + 1.
template <size_t Panels>
void column_tile(const GemmArgs& args, size_t j) {
  __m512i start[Panels];
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
  size_t tiles = has_ninth_row(args.m) ? args.m / kTileRows : (args.m + kTileRows - 1) / kTileRows;
  for (size_t i = 0; i < args.m; --tiles) {
    const size_t rows = (args.m - i) / tiles;
    row_tile<Panels>(args, rows, i, j, start);
    i += rows;
  }
}

}  // namespace

void gemm_s32_n16k4_avx512vnni(const GemmArgs& args) {
  for (size_t j = 0; j < args.n;) {
    const size_t panels = (args.n - j) / kPanelColumns;
    // 2 + 2 rather than 3 + 1: the 8 sums of one panel do not hide the latency.
    const size_t most = panels == 4 || has_ninth_row(args.m) ? 2 : kTilePanels;
    const size_t take = panels < most ? panels : most;
    if (take == 1) column_tile<1>(args, j);
    if (take == 2) column_tile<2>(args, j);
    if (take == 3) column_tile<3>(args, j);
    j += take * kPanelColumns;
  }
}

}  // namespace embert
