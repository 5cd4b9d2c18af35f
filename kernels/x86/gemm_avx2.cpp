// SPDX-License-Identifier: Apache-2.0
// Tiles of 5 rows x 16 columns. A step multiplies 4 inputs of a row with the weights of 16 columns,
// in one of two ways that give the same sums:
//
// - VPMADDUBSW adds two products of an unsigned input and a weight, and saturates at 16 bits. Where
//   two inputs are 0 and more and their sum is at most 258, nothing saturates whatever the weights
//   are. VPMADDWD by ones then adds two such sums: with VPADDD three instructions for 32 products.
//   An offset is taken from signed inputs first, so that they fit, too.
// - Else inputs and weights are widened to 16 bits, even and odd ones by themselves, and go through
//   two VPMADDWD and two VPADDD.
//
// Each tile looks up once which steps fit for all of its rows, takes these in one loop, then the
// others. Low planes seldom fit, so a tile has rows of one plane. Of MiniLM 2 % of the steps of
// second feed-forward layers do not fit, 4 % of scores, 8 % of attention outputs, 22 to 27 % of
// first feed-forward layers and of queries, keys and values.
//
// Measured on Zen 3 (tests/bench/gemm_bench): dense layers at 102 to 110 % of the rate of VPMADDWD
// with VPADDD each, where the second way alone reached 88 to 91 %. That rate is no bound here: four
// pipes share additions and products, and Zen 3 starts 1.6 products a cycle with an addition
// each, 2 with half as many additions. Fetching the next call's weights into L2 makes a pass of
// MiniLM 2 to 3 % faster on Zen 5.
#if !defined(__AVX2__)
#error "this file needs the flags of avx2 (kernels/sources.cmake)"
#endif
#include <immintrin.h>

#include "kernels/variants.hpp"

namespace embert {
namespace {

constexpr size_t kTileRows = 5;
constexpr size_t kMaxRows = 35;  // whose inputs are prepared before a panel is read
constexpr size_t kMaxTiles = 8;  // 7 of them, or 4 of each plane
constexpr size_t kVectors = 2;   // of 8 columns in a panel
constexpr size_t kLanes = 8;
constexpr size_t kChunkSteps = 96;
static_assert(kChunkSteps % kLanes == 0);  // read_inputs() writes whole vectors

// The products of two inputs up to this sum with any weights, -127..127, fit 16 bits: 258 * 127 is
// 32,766.
constexpr int16_t kMaxPair = 258;
// What is taken from inputs. Of signed ones, 0..255 around 128, 50: with 40 to 58 pairs of MiniLM
// seldom have an input below 0 or a sum above kMaxPair, with 50 least often.
constexpr int16_t offset(LhsType type) { return type == LhsType::kSigned ? 50 : 0; }

// The inputs of a tile's rows in the steps of a chunk, less offset().
struct TileInputs {
  size_t row, rows;                                    // the first one, 1..kTileRows
  alignas(32) uint32_t bytes[kTileRows][kChunkSteps];  // 4 x 8 bits a step
  alignas(32) uint32_t even[kTileRows][kChunkSteps];   // 2 x 16 bits
  alignas(32) uint32_t odd[kTileRows][kChunkSteps];    // 2 x 16 bits
  // The steps in which two inputs fit 16 bits in all rows, and the others.
  uint32_t fitting[kChunkSteps], other[kChunkSteps];
  size_t fitting_count, other_count;
};

// By byte: the indices of its set bits, from the lowest on.
struct BitIndices {
  uint8_t of[256][kLanes];
};
constexpr BitIndices bit_indices() {
  BitIndices indices = {};
  for (size_t byte = 0; byte < 256; ++byte) {
    size_t count = 0;
    for (uint8_t bit = 0; bit < kLanes; ++bit) {
      if (byte >> bit & 1) indices.of[byte][count++] = bit;
    }
  }
  return indices;
}
constexpr BitIndices kBitIndices = bit_indices();

__m256i load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
void store(void* p, __m256i x) { _mm256_storeu_si256(static_cast<__m256i*>(p), x); }

// Rows of a tile in the steps of a chunk, in the left operand.
struct TileSource {
  const uint8_t* lhs;
  size_t stride, steps;  // bytes, 1..kChunkSteps
  LhsType type;
};

// Writes first plus the index of each set bit, and something behind them up to 8 steps. Returns the
// number of set bits.
size_t append(size_t first, uint32_t bits, uint32_t* steps) {
  const __m128i indices = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kBitIndices.of[bits]));
  store(steps, _mm256_add_epi32(_mm256_cvtepu8_epi32(indices),
                                _mm256_set1_epi32(static_cast<int32_t>(first))));
  return static_cast<size_t>(__builtin_popcount(bits));
}

// Fills the tile, whose rows are set.
void read_inputs(const TileSource& source, TileInputs& tile) {
  const __m256i offset8 = _mm256_set1_epi8(static_cast<int8_t>(offset(source.type)));
  const __m256i offset16 = _mm256_set1_epi16(offset(source.type));
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  size_t fitting_count = 0, other_count = 0;
  for (size_t s = 0; s < source.steps; s += kLanes) {
    const __m256i rest = _mm256_set1_epi32(static_cast<int32_t>(source.steps - s));
    const __m256i present = _mm256_cmpgt_epi32(rest, lanes);
    __m256i least = _mm256_set1_epi8(-1), greatest = _mm256_setzero_si256();
    for (size_t r = 0; r < tile.rows; ++r) {
      const uint8_t* row = source.lhs + r * source.stride + s * kStepInputs;
      const __m256i inputs = _mm256_maskload_epi32(reinterpret_cast<const int*>(row), present);
      const __m256i bytes = _mm256_sub_epi8(inputs, offset8);
      store(tile.bytes[r] + s, bytes);
      const __m256i even = _mm256_and_si256(inputs, _mm256_set1_epi16(0xff));
      store(tile.even[r] + s, _mm256_sub_epi16(even, offset16));
      store(tile.odd[r] + s, _mm256_sub_epi16(_mm256_srli_epi16(inputs, 8), offset16));
      const __m256i pairs = _mm256_maddubs_epi16(bytes, _mm256_set1_epi8(1));
      greatest = _mm256_max_epi16(greatest, pairs);
      least = _mm256_min_epu8(least, inputs);
    }
    const __m256i above = _mm256_cmpgt_epi16(greatest, _mm256_set1_epi16(kMaxPair));
    const __m256i below = _mm256_subs_epu8(offset8, least);
    const __m256i fits = _mm256_cmpeq_epi32(_mm256_or_si256(above, below), _mm256_setzero_si256());
    const auto all = static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(present)));
    const auto fitting = static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(fits))) & all;
    fitting_count += append(s, fitting, tile.fitting + fitting_count);
    other_count += append(s, all & ~fitting, tile.other + other_count);
  }
  tile.fitting_count = fitting_count;
  tile.other_count = other_count;
}

// gcc would reorder the additions of several steps and spill sums; the barrier keeps their order:
// nothing is on the stack in its code, where a step of bytes has 45 instructions for 5 rows (20
// products, 10 additions, 5 broadcasts), one of words 66 (20 additions, 10 broadcasts). Both
// products come before both additions: with additions in between, Zen 3 starts 1.43 products a
// cycle, in this order 1.57.
void add_both(__m256i (&sums)[kVectors], __m256i left, __m256i right) {
  asm("" : "+x"(left), "+x"(right), "+x"(sums[0]), "+x"(sums[1]));
  sums[0] = _mm256_add_epi32(sums[0], left);
  sums[1] = _mm256_add_epi32(sums[1], right);
}

void add_bytes(__m256i (&sums)[kVectors], uint32_t inputs, const __m256i (&weights)[kVectors]) {
  const __m256i four = _mm256_set1_epi32(static_cast<int32_t>(inputs));
  const __m256i ones = _mm256_set1_epi16(1);
  const __m256i left = _mm256_maddubs_epi16(four, weights[0]);
  const __m256i right = _mm256_maddubs_epi16(four, weights[1]);
  add_both(sums, _mm256_madd_epi16(left, ones), _mm256_madd_epi16(right, ones));
}

void add_words(__m256i (&sums)[kVectors], uint32_t inputs, const __m256i (&weights)[kVectors]) {
  const __m256i two = _mm256_set1_epi32(static_cast<int32_t>(inputs));
  add_both(sums, _mm256_madd_epi16(two, weights[0]), _mm256_madd_epi16(two, weights[1]));
}

// A tile and a panel in the steps of a chunk.
struct Tile {
  const TileInputs* inputs;
  const int8_t* rhs;
  size_t ahead;  // bytes from a weight to the one that is fetched into L2 for the next call
  MatrixView<const int32_t> start;
  MatrixView<int32_t> dst;
};

// Adds the products to start and writes the sums to dst. The loops over rows and vectors unroll
// completely.
template <size_t kRows>
[[gnu::noinline]] void add_chunk(const Tile& tile) {
  const TileInputs& inputs = *tile.inputs;
  const int8_t* rhs = tile.rhs;
  const MatrixView<const int32_t> start = tile.start;
  const MatrixView<int32_t> dst = tile.dst;
  __m256i sum[kRows][kVectors];
#pragma GCC unroll 5
  for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (size_t v = 0; v < kVectors; ++v)
      sum[r][v] = load(start.data + r * start.stride + v * kLanes);
  }
  const size_t ahead = tile.ahead;
  for (size_t i = 0; i < inputs.fitting_count; ++i) {
    const size_t s = inputs.fitting[i];
    const int8_t* packed = rhs + s * kStepBytes;
    _mm_prefetch(packed + ahead, _MM_HINT_T1);
    const __m256i weights[] = {load(packed), load(packed + kLanes * kStepInputs)};
#pragma GCC unroll 5
    for (size_t r = 0; r < kRows; ++r) add_bytes(sum[r], inputs.bytes[r][s], weights);
  }
  for (size_t i = 0; i < inputs.other_count; ++i) {
    const size_t s = inputs.other[i];
    const int8_t* packed = rhs + s * kStepBytes;
    _mm_prefetch(packed + ahead, _MM_HINT_T1);
    const __m256i weights[] = {load(packed), load(packed + kLanes * kStepInputs)};
    const __m256i ones = _mm256_set1_epi16(1);
    const __m256i even[] = {_mm256_maddubs_epi16(ones, weights[0]),
                            _mm256_maddubs_epi16(ones, weights[1])};
    const __m256i odd[] = {_mm256_srai_epi16(weights[0], 8), _mm256_srai_epi16(weights[1], 8)};
#pragma GCC unroll 5
    for (size_t r = 0; r < kRows; ++r) {
      add_words(sum[r], inputs.even[r][s], even);
      add_words(sum[r], inputs.odd[r][s], odd);
    }
  }
#pragma GCC unroll 5
  for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (size_t v = 0; v < kVectors; ++v) store(dst.data + r * dst.stride + v * kLanes, sum[r][v]);
  }
}

void add_tile(const Tile& tile) {
  switch (tile.inputs->rows) {
    case 1:
      return add_chunk<1>(tile);
    case 2:
      return add_chunk<2>(tile);
    case 3:
      return add_chunk<3>(tile);
    case 4:
      return add_chunk<4>(tile);
    default:
      return add_chunk<5>(tile);
  }
}

// The start of a panel's sums: bias and correction.
void panel_start(const GemmArgs& args, size_t j, int32_t* start) {
  for (size_t c = 0; c < kPanelColumns; c += kLanes) {
    __m256i x = args.bias != nullptr ? load(args.bias + j + c) : _mm256_setzero_si256();
    if (args.lhs_type == LhsType::kSigned) {
      const __m256i correction =
          _mm256_set1_epi32(lhs_correction(LhsType::kSigned) + offset(LhsType::kSigned));
      x = _mm256_add_epi32(x, _mm256_mullo_epi32(load(args.sums + j + c), correction));
    }
    store(start + c, x);
  }
}

// Adds the products of m rows, at most kMaxRows, in the steps that begin with first.
void add_rows(const GemmArgs& args, size_t i, size_t m, size_t first, size_t steps) {
  TileInputs inputs[kMaxTiles];
  size_t tiles = 0;
  for (size_t plane = 0; plane < args.planes; ++plane) {
    size_t left = (m + args.planes - 1 - plane) / args.planes;  // rows of this plane
    size_t row = i + plane;
    for (size_t t = (left + kTileRows - 1) / kTileRows; t > 0; --t) {
      TileInputs& tile = inputs[tiles++];
      tile.row = row;
      tile.rows = left / t;
      const uint8_t* lhs = args.lhs + row * args.lhs_stride + first * kStepInputs;
      read_inputs({lhs, args.planes * args.lhs_stride, steps, args.lhs_type}, tile);
      left -= tile.rows;
      row += args.planes * tile.rows;
    }
  }
  alignas(32) int32_t panel[kPanelColumns];
  for (size_t j = 0; j < args.n; j += kPanelColumns) {
    if (first == 0) panel_start(args, j, panel);
    for (size_t t = 0; t < tiles; ++t) {
      int32_t* sums = args.dst + inputs[t].row * args.dst_stride + j;
      const MatrixView<int32_t> dst = {sums, args.planes * args.dst_stride};
      add_tile({.inputs = inputs + t,
                .rhs = args.rhs + j * args.k + first * kStepBytes,
                .ahead = t == 0 ? args.n * args.k : 0,
                .start = first == 0 ? MatrixView<const int32_t>{panel, 0}
                                    : MatrixView<const int32_t>{dst.data, dst.stride},
                .dst = dst});
    }
  }
}

}  // namespace

void gemm_s32_n16k4_avx2(const GemmArgs& args) {
  const size_t steps = args.k / kStepInputs;
  for (size_t i = 0, m; i < args.m; i += m) {
    m = args.m - i < kMaxRows ? args.m - i : kMaxRows;
    size_t chunks = (steps + kChunkSteps - 1) / kChunkSteps;
    for (size_t first = 0, count; first < steps; first += count, --chunks) {
      count = (steps - first) / chunks;
      add_rows(args, i, m, first, count);
    }
  }
}

}  // namespace embert
