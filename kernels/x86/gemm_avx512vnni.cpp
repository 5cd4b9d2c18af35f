// SPDX-License-Identifier: Apache-2.0
// VPDPBUSD on 512 bits, tiles of 8 rows x 48 columns: 24 sums, 3 weights, 1 input in registers. Two
// instructions a cycle need 11 loads in 12 cycles, which L1 and L2 deliver. Tiles of 12 x 32 were
// no faster. Four panels that are left are tiles of 6 x 64: on an Intel Xeon (family 6, model 207)
// the context of heads of 32 takes 4 to 6 % less time than with two tiles of 8 x 32, whose 16 sums
// hide the latency with less room. There a 512-bit store takes half a cycle of both multipliers.
//
// Weights come from L3 once for each block of rows: fetching them into L2 a tile of columns ahead
// makes a pass of MiniLM with 128 tokens 2 % faster, 6 % beside programs that use L3, too. On Zen 5
// a 512-bit store occupies the multipliers for a cycle, so the limit is k / (k + 8) of the
// instruction's peak. Measured there (tests/bench/gemm_bench), the limit in brackets: 95-98 %
// (98-99) at MiniLM's dense layers, 92-97 % with weights in L3, 94 % (94) at context, 74 % (80) at
// scores with k = 32.
#if !defined(__AVX512VNNI__)
#error "this file needs the flags of avx512vnni (kernels/sources.cmake)"
#endif
#include "kernels/variants.hpp"
#include "kernels/x86/gemm_tile_avx512.hpp"

namespace embert {
namespace {

// A tile of four panels has fewer rows: 24 sums, 4 weights, 1 input.
constexpr size_t kTilePanels = 3, kFourPanelRows = 6;

template <size_t Panels>
void row_tile(const GemmArgs& args, size_t rows, const TilePlace& at, const __m512i* start) {
  if constexpr (Panels < 4) {
    if (rows == 8) return tile<8, Panels>(args, at, start, Nothing{});
    if (rows == 7) return tile<7, Panels>(args, at, start, Nothing{});
    if (rows == 9) return tile<9, Panels>(args, at, start, Nothing{});
  }
  switch (rows) {
    case 1:
      return tile<1, Panels>(args, at, start, Nothing{});
    case 2:
      return tile<2, Panels>(args, at, start, Nothing{});
    case 3:
      return tile<3, Panels>(args, at, start, Nothing{});
    case 4:
      return tile<4, Panels>(args, at, start, Nothing{});
    case 5:
      return tile<5, Panels>(args, at, start, Nothing{});
    default:
      return tile<6, Panels>(args, at, start, Nothing{});
  }
}

// All rows of some panels, so that tiles after the first read their weights from L1 or L2.
template <size_t Panels>
void column_tile(const GemmArgs& args, size_t j) {
  __m512i start[Panels];
  start_sums<Panels>(args, j, start);
  size_t tiles =
      Panels == 4 ? (args.m + kFourPanelRows - 1) / kFourPanelRows : tiles_of_rows(args.m);
  for (size_t i = 0; i < args.m; --tiles) {
    const size_t rows = (args.m - i) / tiles;
    row_tile<Panels>(args, rows, {i, j, args.dst + i * args.dst_stride + j, args.dst_stride},
                     start);
    i += rows;
  }
}

}  // namespace

void gemm_s32_n16k4_avx512vnni(const GemmArgs& args) {
  for (size_t j = 0; j < args.n;) {
    const size_t panels = (args.n - j) / kPanelColumns;
    // 4 rather than 3 + 1: the 8 sums of one panel do not hide the latency.
    const size_t take = panels <= 4 ? panels : kTilePanels;
    if (take == 1) column_tile<1>(args, j);
    if (take == 2) column_tile<2>(args, j);
    if (take == 3) column_tile<3>(args, j);
    if (take == 4) column_tile<4>(args, j);
    j += take * kPanelColumns;
  }
}

}  // namespace embert
