// SPDX-License-Identifier: Apache-2.0
// VPMADDWD on 256 bits, tiles of 5 rows x 16 columns. The even and the odd bytes of a step's 4
// inputs are widened to 16 bits in place. Both products of VPMADDWD then belong to the same column,
// and one 32-bit lane holds its whole sum. (VPMADDUBSW would saturate: 2 * 255 * 127 does not fit
// 16 bits. With factors of 1 and 0 it widens the even weights in one instruction.) Rows are split
// once for all columns, weights in the loop. Measured on an Intel Xeon, family 6, model 207
// (tests/bench/gemm_bench): 85-86 % of the peak of VPMADDWD and VPADDD at MiniLM's dense layers,
// 77-79 % at scores with k = 32; two shifts for the even weights reached 80-82 %. Splitting
// weights takes 4 of a step's 44 vector operations. 6 rows, with the weights of 8 columns at a
// time: 80 %. Fetching the next call's weights into L2 makes a pass of MiniLM 2 to 3 % faster on
// Zen 5.
#if !defined(__AVX2__)
#error "this file needs the flags of avx2 (kernels/sources.cmake)"
#endif
#include <immintrin.h>

#include "kernels/variants.hpp"

namespace embert {
namespace {

constexpr size_t kTileRows = 5;
constexpr size_t kVectors = 2;  // of 8 columns in a panel
constexpr size_t kLanes = 8;
constexpr size_t kChunkSteps = 128;

// The inputs of a tile's rows in up to kChunkSteps steps, as 2 x 16 bits a step.
struct SplitRows {
  size_t rows, steps;  // 1..kTileRows, 1..kChunkSteps
  size_t ahead;        // bytes from a weight to the one that is fetched into L2 for the next call
  alignas(32) uint32_t even[kTileRows][kChunkSteps];
  alignas(32) uint32_t odd[kTileRows][kChunkSteps];
};

__m256i load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
void store(void* p, __m256i x) { _mm256_storeu_si256(static_cast<__m256i*>(p), x); }

void split_row(const uint8_t* lhs, size_t steps, uint32_t* even, uint32_t* odd) {
  size_t s = 0;
  for (; s + kLanes <= steps; s += kLanes) {
    const __m256i inputs = load(lhs + s * kStepInputs);
    store(even + s, _mm256_and_si256(inputs, _mm256_set1_epi16(0xff)));
    store(odd + s, _mm256_srli_epi16(inputs, 8));
  }
  for (; s < steps; ++s) {
    uint32_t inputs;
    __builtin_memcpy(&inputs, lhs + s * kStepInputs, sizeof(inputs));
    even[s] = inputs & 0x00ff00ff;
    odd[s] = inputs >> 8 & 0x00ff00ff;
  }
}

// gcc would reorder the additions of several steps and spill sums; the barrier keeps their order.
void add_products(__m256i& sum, __m256i inputs, __m256i weights) {
  sum = _mm256_add_epi32(sum, _mm256_madd_epi16(inputs, weights));
  asm("" : "+x"(sum));
}

// Adds the products of one chunk to start and writes the sums to dst. The loops over rows and
// vectors unroll completely.
template <size_t kRows>
[[gnu::noinline]] void add_chunk(const SplitRows& lhs, const int8_t* rhs,
                                 MatrixView<const int32_t> start, MatrixView<int32_t> dst) {
  const size_t steps = lhs.steps;
  __m256i sum[kRows][kVectors];
#pragma GCC unroll 5
  for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (size_t v = 0; v < kVectors; ++v)
      sum[r][v] = load(start.data + r * start.stride + v * kLanes);
  }
  for (size_t s = 0; s < steps; ++s, rhs += kStepBytes) {
    _mm_prefetch(rhs + lhs.ahead, _MM_HINT_T1);
    __m256i even[kVectors], odd[kVectors];
#pragma GCC unroll 2
    for (size_t v = 0; v < kVectors; ++v) {
      const __m256i weights = load(rhs + v * kLanes * kStepInputs);
      even[v] = _mm256_maddubs_epi16(_mm256_set1_epi16(1), weights);
      odd[v] = _mm256_srai_epi16(weights, 8);
    }
#pragma GCC unroll 5
    for (size_t r = 0; r < kRows; ++r) {
      const __m256i even_inputs = _mm256_set1_epi32(static_cast<int32_t>(lhs.even[r][s]));
#pragma GCC unroll 2
      for (size_t v = 0; v < kVectors; ++v) add_products(sum[r][v], even_inputs, even[v]);
      const __m256i odd_inputs = _mm256_set1_epi32(static_cast<int32_t>(lhs.odd[r][s]));
#pragma GCC unroll 2
      for (size_t v = 0; v < kVectors; ++v) add_products(sum[r][v], odd_inputs, odd[v]);
    }
  }
#pragma GCC unroll 5
  for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (size_t v = 0; v < kVectors; ++v) store(dst.data + r * dst.stride + v * kLanes, sum[r][v]);
  }
}

void add_rows(const SplitRows& lhs, const int8_t* rhs, MatrixView<const int32_t> start,
              MatrixView<int32_t> dst) {
  switch (lhs.rows) {
    case 1:
      return add_chunk<1>(lhs, rhs, start, dst);
    case 2:
      return add_chunk<2>(lhs, rhs, start, dst);
    case 3:
      return add_chunk<3>(lhs, rhs, start, dst);
    case 4:
      return add_chunk<4>(lhs, rhs, start, dst);
    default:
      return add_chunk<5>(lhs, rhs, start, dst);
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

}  // namespace

void gemm_s32_n16k4_avx2(const GemmArgs& args) {
  const size_t steps = args.k / kStepInputs;
  SplitRows lhs;
  lhs.ahead = args.n * args.k;
  alignas(32) int32_t start[kPanelColumns];
  size_t tiles = (args.m + kTileRows - 1) / kTileRows;
  for (size_t i = 0; i < args.m; --tiles) {
    lhs.rows = (args.m - i) / tiles;
    for (size_t first = 0; first == 0 || first < steps; first += kChunkSteps) {
      lhs.steps = steps - first < kChunkSteps ? steps - first : kChunkSteps;
      for (size_t r = 0; r < lhs.rows; ++r) {
        split_row(args.lhs + (i + r) * args.lhs_stride + first * kStepInputs, lhs.steps,
                  lhs.even[r], lhs.odd[r]);
      }
      for (size_t j = 0; j < args.n; j += kPanelColumns) {
        const int8_t* rhs = args.rhs + j * args.k + first * kStepBytes;
        const MatrixView<int32_t> dst = {args.dst + i * args.dst_stride + j, args.dst_stride};
        if (first == 0) {
          panel_start(args, j, start);
          add_rows(lhs, rhs, {start, 0}, dst);
        } else {
          add_rows(lhs, rhs, {dst.data, dst.stride}, dst);
        }
      }
    }
    i += lhs.rows;
  }
}

}  // namespace embert
