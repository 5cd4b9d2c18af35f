// SPDX-License-Identifier: Apache-2.0
// VPMADDWD on 256 bits, tiles of 5 rows x 16 columns. The even and the odd bytes of a step's 4
// inputs are widened to 16 bits in place. Both products of VPMADDWD then belong to the same column,
// and one 32-bit lane holds its whole sum. (VPMADDUBSW would saturate: 2 * 255 * 127 does not fit
// 16 bits. With factors of 1 and 0 it widens the even weights in one instruction.) Rows are split
// once for all columns. The first tile splits the weights of a panel and keeps them in 12 KB, the
// others load them: 40 vector operations a step for 44. Measured on an Intel Xeon, family 6, model
// 207 (tests/bench/gemm_bench): 93 to 97 % of the peak of VPMADDWD and VPADDD at MiniLM's dense
// layers with 16 and 32 rows, 89 % at scores with k = 32; with weights split in each tile 85 and
// 79 %, in a loop before the tiles 90 to 94 % and no gain where the weights come from L3. Fetching
// the next call's weights into L2 makes a pass of MiniLM 2 to 3 % faster on Zen 5.
#if !defined(__AVX2__)
#error "this file needs the flags of avx2 (kernels/sources.cmake)"
#endif
#include <immintrin.h>

#include "kernels/variants.hpp"

namespace embert {
namespace {

constexpr size_t kTileRows = 5;
constexpr size_t kMaxTiles = 7;  // that share a panel's split weights
constexpr size_t kVectors = 2;   // of 8 columns in a panel
constexpr size_t kLanes = 8;
constexpr size_t kChunkSteps = 96;

// The inputs of a row in the steps of a chunk, as 2 x 16 bits a step.
struct SplitRow {
  alignas(32) uint32_t even[kChunkSteps];
  alignas(32) uint32_t odd[kChunkSteps];
};
// The weights of a panel in one step, as 2 x 16 bits a column.
struct SplitStep {
  __m256i even[kVectors], odd[kVectors];
};

__m256i load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
void store(void* p, __m256i x) { _mm256_storeu_si256(static_cast<__m256i*>(p), x); }

void split_row(const uint8_t* lhs, size_t steps, SplitRow& row) {
  size_t s = 0;
  for (; s + kLanes <= steps; s += kLanes) {
    const __m256i inputs = load(lhs + s * kStepInputs);
    store(row.even + s, _mm256_and_si256(inputs, _mm256_set1_epi16(0xff)));
    store(row.odd + s, _mm256_srli_epi16(inputs, 8));
  }
  for (; s < steps; ++s) {
    uint32_t inputs;
    __builtin_memcpy(&inputs, lhs + s * kStepInputs, sizeof(inputs));
    row.even[s] = inputs & 0x00ff00ff;
    row.odd[s] = inputs >> 8 & 0x00ff00ff;
  }
}

// The weights of a panel as the blob holds them. The first tile splits each step where it reads it,
// and keeps it for the tiles that follow.
template <bool kKeeps>
struct PackedWeights {
  const int8_t* rhs;
  size_t ahead;     // bytes from a weight to the one that is fetched into L2 for the next call
  SplitStep* kept;  // [kChunkSteps]

  SplitStep step(size_t s) const {
    const int8_t* packed = rhs + s * kStepBytes;
    _mm_prefetch(packed + ahead, _MM_HINT_T1);
    SplitStep split;
#pragma GCC unroll 2
    for (size_t v = 0; v < kVectors; ++v) {
      const __m256i weights = load(packed + v * kLanes * kStepInputs);
      split.even[v] = _mm256_maddubs_epi16(_mm256_set1_epi16(1), weights);
      split.odd[v] = _mm256_srai_epi16(weights, 8);
      if (!kKeeps) continue;
      store(&kept[s].even[v], split.even[v]);
      store(&kept[s].odd[v], split.odd[v]);
    }
    return split;
  }
};
struct SplitWeights {
  const SplitStep* steps;

  // Vector by vector: gcc 12 copies the struct through the stack.
  SplitStep step(size_t s) const {
    const SplitStep& from = steps[s];
    return {{load(&from.even[0]), load(&from.even[1])}, {load(&from.odd[0]), load(&from.odd[1])}};
  }
};

// gcc would reorder the additions of several steps and spill sums; the barrier keeps their order.
void add_products(__m256i& sum, __m256i inputs, __m256i weights) {
  sum = _mm256_add_epi32(sum, _mm256_madd_epi16(inputs, weights));
  asm("" : "+x"(sum));
}

// Rows of one panel in the steps of a chunk.
struct Tile {
  const SplitRow* rows;  // [count]
  size_t count, steps;   // 1..kTileRows, 1..kChunkSteps
  MatrixView<const int32_t> start;
  MatrixView<int32_t> dst;
};

// Adds the products to start and writes the sums to dst. The loops over rows and vectors unroll
// completely.
template <size_t kRows, class Weights>
[[gnu::noinline]] void add_chunk(const Tile& tile, Weights weights) {
  const SplitRow* rows = tile.rows;
  const size_t steps = tile.steps;
  const MatrixView<const int32_t> start = tile.start;
  const MatrixView<int32_t> dst = tile.dst;
  __m256i sum[kRows][kVectors];
#pragma GCC unroll 5
  for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (size_t v = 0; v < kVectors; ++v)
      sum[r][v] = load(start.data + r * start.stride + v * kLanes);
  }
  for (size_t s = 0; s < steps; ++s) {
    const SplitStep split = weights.step(s);
#pragma GCC unroll 5
    for (size_t r = 0; r < kRows; ++r) {
      const __m256i even_inputs = _mm256_set1_epi32(static_cast<int32_t>(rows[r].even[s]));
#pragma GCC unroll 2
      for (size_t v = 0; v < kVectors; ++v) add_products(sum[r][v], even_inputs, split.even[v]);
      const __m256i odd_inputs = _mm256_set1_epi32(static_cast<int32_t>(rows[r].odd[s]));
#pragma GCC unroll 2
      for (size_t v = 0; v < kVectors; ++v) add_products(sum[r][v], odd_inputs, split.odd[v]);
    }
  }
#pragma GCC unroll 5
  for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (size_t v = 0; v < kVectors; ++v) store(dst.data + r * dst.stride + v * kLanes, sum[r][v]);
  }
}

template <class Weights>
void add_tile(const Tile& tile, Weights weights) {
  switch (tile.count) {
    case 1:
      return add_chunk<1>(tile, weights);
    case 2:
      return add_chunk<2>(tile, weights);
    case 3:
      return add_chunk<3>(tile, weights);
    case 4:
      return add_chunk<4>(tile, weights);
    default:
      return add_chunk<5>(tile, weights);
  }
}

// The start of a panel's sums: bias and correction.
void panel_start(const GemmArgs& args, size_t j, int32_t* start) {
  for (size_t c = 0; c < kPanelColumns; c += kLanes) {
    __m256i x = args.bias != nullptr ? load(args.bias + j + c) : _mm256_setzero_si256();
    if (args.lhs_type == LhsType::kSigned) {
      const __m256i correction = _mm256_set1_epi32(lhs_correction(LhsType::kSigned));
      x = _mm256_add_epi32(x, _mm256_mullo_epi32(load(args.sums + j + c), correction));
    }
    store(start + c, x);
  }
}

// Adds the products of m rows, at most kMaxTiles * kTileRows, in the steps that begin with first.
void add_rows(const GemmArgs& args, size_t i, size_t m, size_t first, size_t steps) {
  SplitRow rows[kMaxTiles * kTileRows];
  SplitStep split[kChunkSteps];
  alignas(32) int32_t panel[kPanelColumns];
  for (size_t r = 0; r < m; ++r) {
    split_row(args.lhs + (i + r) * args.lhs_stride + first * kStepInputs, steps, rows[r]);
  }
  for (size_t j = 0; j < args.n; j += kPanelColumns) {
    const int8_t* rhs = args.rhs + j * args.k + first * kStepBytes;
    const size_t ahead = args.n * args.k;
    if (first == 0) panel_start(args, j, panel);
    size_t tiles = (m + kTileRows - 1) / kTileRows;
    for (size_t r = 0, count; r < m; r += count, --tiles) {
      count = (m - r) / tiles;
      const MatrixView<int32_t> dst = {args.dst + (i + r) * args.dst_stride + j, args.dst_stride};
      Tile tile = {rows + r, count, steps, {dst.data, dst.stride}, dst};
      if (first == 0) tile.start = {panel, 0};
      if (count == m) {
        add_tile(tile, PackedWeights<false>{rhs, ahead, split});
      } else if (r == 0) {
        add_tile(tile, PackedWeights<true>{rhs, ahead, split});
      } else {
        add_tile(tile, SplitWeights{split});
      }
    }
  }
}

}  // namespace

void gemm_s32_n16k4_avx2(const GemmArgs& args) {
  const size_t steps = args.k / kStepInputs;
  for (size_t i = 0, m; i < args.m; i += m) {
    m = args.m - i < kMaxTiles * kTileRows ? args.m - i : kMaxTiles * kTileRows;
    size_t chunks = (steps + kChunkSteps - 1) / kChunkSteps;
    for (size_t first = 0, count; first < steps; first += count, --chunks) {
      count = (steps - first) / chunks;
      add_rows(args, i, m, first, count);
    }
  }
}

}  // namespace embert
