// SPDX-License-Identifier: Apache-2.0
// VPDPBUSD on 256 bits, tiles of 6 rows x 16 columns: 12 sums, 2 weights, 1 input in registers.
// Measured on Zen 5 (tests/bench/gemm_bench): 93-97 % of the instruction's peak at MiniLM's shapes
// with 32 rows; 89-92 % with 8 (tiles of 4 rows: 8 sums just hide the latency). Fetching the next
// panel into L2 makes a pass of MiniLM with 128 tokens 4 % faster. In gcc 12's code a step has 25
// instructions for 12 products, and nothing is on the stack.
#if !defined(__AVXVNNI__)
#error "this file needs the flags of avxvnni (kernels/sources.cmake)"
#endif
#include <immintrin.h>

#include "kernels/variants.hpp"

namespace embert {
namespace {

constexpr size_t kTileRows = 6;
constexpr size_t kVectors = 2;  // of 8 columns in a panel
constexpr size_t kLanes = 8;

// One tile from row i and column j on; its sums start at start. The loops over rows and vectors
// unroll completely.
template <size_t Rows>
[[gnu::noinline]] void tile(const GemmArgs& args, size_t i, size_t j, const __m256i* start) {
  const size_t k = args.k, lhs_stride = args.lhs_stride, dst_stride = args.dst_stride;
  const uint8_t* lhs = args.lhs + i * lhs_stride;
  const int8_t* rhs = args.rhs + j * k;
  const size_t ahead = k * kPanelColumns;  // the next panel is in L2 when its turn comes
  int32_t* dst = args.dst + i * dst_stride + j;
  __m256i sum[Rows][kVectors];
#pragma GCC unroll 6
  for (size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 2
    for (size_t v = 0; v < kVectors; ++v) sum[r][v] = start[v];
  }
  for (size_t c = 0; c < k; c += kStepInputs, rhs += kStepBytes) {
    _mm_prefetch(rhs + ahead, _MM_HINT_T1);
    __m256i weights[kVectors];
#pragma GCC unroll 2
    for (size_t v = 0; v < kVectors; ++v) {
      weights[v] = _mm256_load_si256(reinterpret_cast<const __m256i*>(rhs) + v);
    }
#pragma GCC unroll 6
    for (size_t r = 0; r < Rows; ++r) {
      int32_t inputs;
      __builtin_memcpy(&inputs, lhs + r * lhs_stride + c, sizeof(inputs));
      const __m256i broadcast = _mm256_set1_epi32(inputs);
#pragma GCC unroll 2
      for (size_t v = 0; v < kVectors; ++v) {
        sum[r][v] = _mm256_dpbusd_avx_epi32(sum[r][v], broadcast, weights[v]);
      }
    }
  }
#pragma GCC unroll 6
  for (size_t r = 0; r < Rows; ++r, dst += dst_stride) {
#pragma GCC unroll 2
    for (size_t v = 0; v < kVectors; ++v) {
      _mm256_store_si256(reinterpret_cast<__m256i*>(dst) + v, sum[r][v]);
    }
  }
}

void row_tile(const GemmArgs& args, size_t rows, size_t i, size_t j, const __m256i* start) {
  switch (rows) {
    case 1:
      return tile<1>(args, i, j, start);
    case 2:
      return tile<2>(args, i, j, start);
    case 3:
      return tile<3>(args, i, j, start);
    case 4:
      return tile<4>(args, i, j, start);
    case 5:
      return tile<5>(args, i, j, start);
    default:
      return tile<6>(args, i, j, start);
  }
}

__m256i load(const int32_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }

}  // namespace

void gemm_s32_n16k4_avxvnni(const GemmArgs& args) {
  for (size_t j = 0; j < args.n; j += kPanelColumns) {
    __m256i start[kVectors];
    for (size_t v = 0; v < kVectors; ++v) {
      const size_t column = j + v * kLanes;
      start[v] = args.bias != nullptr ? load(args.bias + column) : _mm256_setzero_si256();
      if (args.lhs_type == LhsType::kSigned) {
        const __m256i correction = _mm256_set1_epi32(lhs_correction(LhsType::kSigned));
        start[v] =
            _mm256_add_epi32(start[v], _mm256_mullo_epi32(load(args.sums + column), correction));
      }
    }
    size_t tiles = (args.m + kTileRows - 1) / kTileRows;
    for (size_t i = 0; i < args.m; --tiles) {
      const size_t rows = (args.m - i) / tiles;
      row_tile(args, rows, i, j, start);
      i += rows;
    }
  }
}

}  // namespace embert
