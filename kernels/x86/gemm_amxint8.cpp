// SPDX-License-Identifier: Apache-2.0
// TDPBUSD of AMX multiplies a tile of 16 rows x 64 inputs with one of 64 inputs x 16 columns in 16
// cycles, eight times the rate of VPDPBUSD on 512 bits. 16 steps of a panel of n16k4 are such a
// tile, as they lie in the model. 2 x 2 tiles of sums need 4 loads of tiles for 4 products; an odd
// panel is left to AVX512-VNNI.
// Seen in its code: 4 loads, 4 products, 6 other instructions a step of 64 inputs. Measured on an
// Intel Xeon (tests/bench/gemm_bench) at MiniLM's dense layers and 32 rows: 43 to 49 % of the peak
// with weights in L2, four times as fast as AVX512-VNNI, 20 % with weights in L3, twice as fast.
// Fetching the next panels ahead took a pass of MiniLM up to 8 % more time, four panels at a time
// for a single tile of rows up to 11 %.
// Instructions: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, chapter 18.
#if !defined(__AMX_INT8__) && !defined(__AMXINT8__)  // gcc, clang 14
#error "this file needs the flags of amxint8 (kernels/sources.cmake)"
#endif
#include "kernels/variants.hpp"
#include "kernels/x86/gemm_tile_avx512.hpp"

namespace embert {
namespace {

constexpr size_t kMostRows = 16, kMostInputs = 64;  // of a tile
// Below, the shapes and the wait for the last product take longer than the products save. MiniLM's
// scores, with half a tile of inputs, took 1.3 to 1.8 times as long as with AVX512-VNNI at 128 and
// 512 tokens, and its context 1.5 times as long at 56.
constexpr size_t kLeastRows = 4, kLeastInputs = kMostInputs, kLeastProducts = 65536;

/// LDTILECFG sets the shapes of the tile registers from these 64 bytes; registers beyond 7 are not
/// there, and their entries are zero.
struct TileShapes {
  uint8_t palette, start_row, reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
};
static_assert(sizeof(TileShapes) == 64, "as the instruction reads it");

/// The rows of one or two tiles of sums.
struct TileRows {
  size_t begin;
  size_t first, second;  ///< rows of the tiles; second: 0 where there is one
};

/// The inputs whose products are added, `step` at a time.
struct TileInputs {
  size_t begin, end, step;
};

/// gcc's intrinsics do not say that their instructions read memory: what was stored before this is
/// in memory behind it. The call in set_shapes is for the operands, too.
EMBERT_INLINE void finish_stores(const void* to) { asm volatile("" : : "r"(to) : "memory"); }

// The intrinsics demand literal numbers of tiles: 0 to 3 are the sums of two tiles of rows by two
// panels, 4 and 5 the inputs of the tiles of rows, 6 and 7 the weights of the panels.

/// LDTILECFG clears all tiles. So inputs behind whole tiles, which need other shapes, are a pass of
/// their own, which goes on from dst.
void set_shapes(const TileRows& rows, size_t inputs) {
  TileShapes shapes = {};
  shapes.palette = 1;
  const auto set = [&](int tile, size_t tile_rows, size_t row_bytes) {
    shapes.rows[tile] = static_cast<uint8_t>(tile_rows);
    shapes.row_bytes[tile] = static_cast<uint16_t>(row_bytes);
  };
  constexpr size_t kSumBytes = kPanelColumns * sizeof(int32_t);
  set(0, rows.first, kSumBytes);
  set(1, rows.first, kSumBytes);
  set(4, rows.first, inputs);
  if (rows.second > 0) {
    set(2, rows.second, kSumBytes);
    set(3, rows.second, kSumBytes);
    set(5, rows.second, inputs);
  }
  set(6, inputs / kStepInputs, kStepBytes);
  set(7, inputs / kStepInputs, kStepBytes);
  finish_stores(&shapes);
  _tile_loadconfig(&shapes);
}

/// The sums of two panels from column j on. Those of the first inputs begin with the bias, those of
/// later ones with what dst holds.
template <size_t RowTiles>
void add_products(const GemmArgs& args, const TileRows& rows, const TileInputs& inputs, size_t j) {
  const size_t dst_stride = args.dst_stride * sizeof(int32_t);
  int32_t* dst0 = args.dst + rows.begin * args.dst_stride + j;
  int32_t* dst1 = dst0 + rows.first * args.dst_stride;

  __m512i start[2];
  const int32_t *from0 = dst0, *from1 = dst1;
  size_t from_stride = dst_stride;
  if (inputs.begin == 0) {
    start_sums<2>(args, j, start);
    finish_stores(start);
    from0 = from1 = reinterpret_cast<const int32_t*>(start);
    from_stride = 0;  // every row the same
  }
  _tile_loadd(0, from0, from_stride);
  _tile_loadd(1, from0 + kPanelColumns, from_stride);
  if constexpr (RowTiles == 2) {
    _tile_loadd(2, from1, from_stride);
    _tile_loadd(3, from1 + kPanelColumns, from_stride);
  }

  const uint8_t* lhs0 = args.lhs + rows.begin * args.lhs_stride;
  const uint8_t* lhs1 = lhs0 + rows.first * args.lhs_stride;
  const int8_t* rhs0 = args.rhs + j * args.k;
  const int8_t* rhs1 = rhs0 + args.k * kPanelColumns;
  for (size_t c = inputs.begin; c < inputs.end; c += inputs.step) {
    _tile_loadd(6, rhs0 + c * kPanelColumns, kStepBytes);
    _tile_loadd(7, rhs1 + c * kPanelColumns, kStepBytes);
    _tile_loadd(4, lhs0 + c, args.lhs_stride);
    _tile_dpbusd(0, 4, 6);
    _tile_dpbusd(1, 4, 7);
    if constexpr (RowTiles == 2) {
      _tile_loadd(5, lhs1 + c, args.lhs_stride);
      _tile_dpbusd(2, 5, 6);
      _tile_dpbusd(3, 5, 7);
    }
  }

  _tile_stored(0, dst0, dst_stride);
  _tile_stored(1, dst0 + kPanelColumns, dst_stride);
  if constexpr (RowTiles == 2) {
    _tile_stored(2, dst1, dst_stride);
    _tile_stored(3, dst1 + kPanelColumns, dst_stride);
  }
}

/// columns: a multiple of two panels.
void add_to_columns(const GemmArgs& args, const TileRows& rows, const TileInputs& inputs,
                    size_t columns) {
  set_shapes(rows, inputs.step);
  const auto add = rows.second > 0 ? add_products<2> : add_products<1>;
  for (size_t j = 0; j < columns; j += 2 * kPanelColumns) add(args, rows, inputs, j);
}

}  // namespace

void gemm_s32_n16k4_amxint8(const GemmArgs& args) {
  const size_t columns = args.n / (2 * kPanelColumns) * (2 * kPanelColumns);
  if (args.m < kLeastRows || args.k < kLeastInputs || args.m * columns * args.k < kLeastProducts) {
    return gemm_s32_n16k4_avx512vnni(args);
  }
  const size_t whole = args.k / kMostInputs * kMostInputs;  // inputs of whole tiles
  const size_t rest = args.k - whole;
  TileRows rows = {};
  for (; rows.begin < args.m; rows.begin += rows.first + rows.second) {
    const size_t left = args.m - rows.begin, both = left < 2 * kMostRows ? left : 2 * kMostRows;
    rows.first = both > kMostRows ? (both + 1) / 2 : both;
    rows.second = both - rows.first;
    add_to_columns(args, rows, {0, whole, kMostInputs}, columns);
    if (rest > 0) add_to_columns(args, rows, {whole, args.k, rest}, columns);
  }
  _tile_release();
  if (columns < args.n) {
    GemmArgs last_panel = args;
    last_panel.n = kPanelColumns;
    last_panel.rhs += columns * args.k;
    if (args.bias != nullptr) last_panel.bias += columns;
    if (args.sums != nullptr) last_panel.sums += columns;
    last_panel.dst += columns;
    gemm_s32_n16k4_avx512vnni(last_panel);
  }
}

}  // namespace embert
