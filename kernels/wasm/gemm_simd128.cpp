// SPDX-License-Identifier: Apache-2.0
// i32x4.dot_i16x8_s on 128 bits, tiles of 4 rows x 8 columns. The even and the odd bytes of a
// step's 4 inputs are widened to 16 bits in place, so both products of a dot belong to one column,
// and one 32-bit lane holds its whole sum. Rows are widened once for all columns, weights in the
// loop: 6 operations of a step's 46. Sums, weights and one input take 13 registers; an engine on
// x86-64 has 16.
#if !defined(__wasm_simd128__)
#error "this file needs the flags of simd128 (toolchains/wasm/wasm32.cmake)"
#endif
#include <wasm_simd128.h>

#include "kernels/variants.hpp"

namespace embert {
namespace {

constexpr size_t kTileRows = 4;
constexpr size_t kVectors = 2;  // of 4 columns in a tile
constexpr size_t kLanes = 4;
constexpr size_t kTileColumns = kVectors * kLanes;
constexpr size_t kChunkSteps = 128;

// The inputs of a tile's rows in up to kChunkSteps steps, as 2 x 16 bits a step.
struct WideRows {
  size_t rows, steps;  // 1..kTileRows, 1..kChunkSteps
  alignas(16) uint32_t even[kTileRows][kChunkSteps];
  alignas(16) uint32_t odd[kTileRows][kChunkSteps];
};

v128_t even_bytes(v128_t x) { return wasm_i16x8_shr(wasm_i16x8_shl(x, 8), 8); }
v128_t odd_bytes(v128_t x) { return wasm_i16x8_shr(x, 8); }

void widen_row(const uint8_t* lhs, size_t steps, uint32_t* even, uint32_t* odd) {
  size_t s = 0;
  for (; s + kLanes <= steps; s += kLanes) {
    const v128_t inputs = wasm_v128_load(lhs + s * kStepInputs);
    wasm_v128_store(even + s, even_bytes(inputs));
    wasm_v128_store(odd + s, odd_bytes(inputs));
  }
  for (; s < steps; ++s) {
    const v128_t inputs = wasm_v128_load32_splat(lhs + s * kStepInputs);
    even[s] = static_cast<uint32_t>(wasm_i32x4_extract_lane(even_bytes(inputs), 0));
    odd[s] = static_cast<uint32_t>(wasm_i32x4_extract_lane(odd_bytes(inputs), 0));
  }
}

// Adds the products of one chunk to start and writes the sums to dst. The loops over rows and
// vectors unroll completely.
template <size_t kRows>
void add_chunk(const WideRows& lhs, const int8_t* rhs, MatrixView<const int32_t> start,
               MatrixView<int32_t> dst) {
  v128_t sum[kRows][kVectors];
#pragma clang loop unroll(full)
  for (size_t r = 0; r < kRows; ++r) {
#pragma clang loop unroll(full)
    for (size_t v = 0; v < kVectors; ++v)
      sum[r][v] = wasm_v128_load(start.data + r * start.stride + v * kLanes);
  }
  for (size_t s = 0; s < lhs.steps; ++s, rhs += kStepBytes) {
    v128_t even[kVectors], odd[kVectors];
#pragma clang loop unroll(full)
    for (size_t v = 0; v < kVectors; ++v) {
      const v128_t weights = wasm_v128_load(rhs + v * kLanes * kStepInputs);
      even[v] = even_bytes(weights);
      odd[v] = odd_bytes(weights);
    }
#pragma clang loop unroll(full)
    for (size_t r = 0; r < kRows; ++r) {
      const v128_t even_inputs = wasm_v128_load32_splat(&lhs.even[r][s]);
      const v128_t odd_inputs = wasm_v128_load32_splat(&lhs.odd[r][s]);
#pragma clang loop unroll(full)
      for (size_t v = 0; v < kVectors; ++v) {
        sum[r][v] = wasm_i32x4_add(sum[r][v], wasm_i32x4_dot_i16x8(even_inputs, even[v]));
        sum[r][v] = wasm_i32x4_add(sum[r][v], wasm_i32x4_dot_i16x8(odd_inputs, odd[v]));
      }
    }
  }
#pragma clang loop unroll(full)
  for (size_t r = 0; r < kRows; ++r) {
#pragma clang loop unroll(full)
    for (size_t v = 0; v < kVectors; ++v)
      wasm_v128_store(dst.data + r * dst.stride + v * kLanes, sum[r][v]);
  }
}

void add_rows(const WideRows& lhs, const int8_t* rhs, MatrixView<const int32_t> start,
              MatrixView<int32_t> dst) {
  switch (lhs.rows) {
    case 1:
      return add_chunk<1>(lhs, rhs, start, dst);
    case 2:
      return add_chunk<2>(lhs, rhs, start, dst);
    case 3:
      return add_chunk<3>(lhs, rhs, start, dst);
    default:
      return add_chunk<4>(lhs, rhs, start, dst);
  }
}

}  // namespace

void gemm_s32_n16k4_simd128(const GemmArgs& args) {
  const size_t steps = args.k / kStepInputs;
  const int32_t correction = lhs_correction(args.lhs_type);
  WideRows lhs;
  alignas(16) int32_t start[kTileColumns];
  size_t tiles = (args.m + kTileRows - 1) / kTileRows;
  for (size_t i = 0; i < args.m; --tiles) {
    lhs.rows = (args.m - i) / tiles;
    for (size_t first = 0; first == 0 || first < steps; first += kChunkSteps) {
      lhs.steps = steps - first < kChunkSteps ? steps - first : kChunkSteps;
      for (size_t r = 0; r < lhs.rows; ++r) {
        widen_row(args.lhs + (i + r) * args.lhs_stride + first * kStepInputs, lhs.steps,
                  lhs.even[r], lhs.odd[r]);
      }
      for (size_t j = 0; j < args.n; j += kTileColumns) {
        const int8_t* rhs = args.rhs + j / kPanelColumns * kPanelColumns * args.k +
                            j % kPanelColumns * kStepInputs + first * kStepBytes;
        const MatrixView<int32_t> dst = {args.dst + i * args.dst_stride + j, args.dst_stride};
        if (first == 0) {
          for (size_t c = 0; c < kTileColumns; ++c) {
            start[c] = (args.bias != nullptr ? args.bias[j + c] : 0) +
                       (correction != 0 ? correction * args.sums[j + c] : 0);
          }
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
