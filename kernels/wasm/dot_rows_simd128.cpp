// SPDX-License-Identifier: Apache-2.0
// Products with a row-major table, 4 table rows x 1 row, 16 columns a step, both operands widened
// to 16 bits; tails by the scalar loop.
#include "kernels/variants.hpp"
#include "kernels/wasm/lanes_simd128.hpp"

namespace embert {
namespace {

constexpr size_t kStep = 16;

struct Wide {
  v128_t low, high;  // 16-bit lanes
};
EMBERT_INLINE Wide widen(const int8_t* p) {
  const v128_t bytes = load(p);
  return {wasm_i16x8_extend_low_i8x16(bytes), wasm_i16x8_extend_high_i8x16(bytes)};
}

template <size_t Columns>
EMBERT_INLINE void tile(const DotRowsArgs& args, size_t i, size_t j) {
  const int8_t* lhs = args.lhs + i * args.lhs_stride;
  const int8_t* rhs = args.rhs + j * args.rhs_stride;
  v128_t sum[Columns];
  for (v128_t& x : sum) x = wasm_i32x4_splat(0);
  size_t c = 0;
  for (; c + kStep <= args.k; c += kStep) {
    const Wide inputs = widen(lhs + c);
    for (size_t v = 0; v < Columns; ++v) {
      const Wide weights = widen(rhs + v * args.rhs_stride + c);
      sum[v] = wasm_i32x4_add(sum[v], wasm_i32x4_dot_i16x8(inputs.low, weights.low));
      sum[v] = wasm_i32x4_add(sum[v], wasm_i32x4_dot_i16x8(inputs.high, weights.high));
    }
  }
  for (size_t v = 0; v < Columns; ++v) {
    int32_t total = sum_of_lanes(sum[v]);
    for (size_t at = c; at < args.k; ++at) total += lhs[at] * rhs[v * args.rhs_stride + at];
    args.dst[i * args.dst_stride + j + v] = total;
  }
}

}  // namespace

void dot_rows_simd128(const DotRowsArgs& args) {
  for (size_t i = 0; i < args.m; ++i) {
    size_t j = 0;
    for (; j + 4 <= args.n; j += 4) tile<4>(args, i, j);
    for (; j < args.n; ++j) tile<1>(args, i, j);
  }
}

}  // namespace embert
