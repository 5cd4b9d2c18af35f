// SPDX-License-Identifier: Apache-2.0
// SMULL and SMLAL on pairs of steps, tiles of 2 rows. The sum of two products of a left byte
// (-128..127) and a weight (-127..127) fits 16 bits. So SMULL multiplies a step into 16-bit lanes,
// SMLAL adds the next step, and SADALP adds neighbouring lanes to 32-bit sums: 3 instructions for
// 16 multiply-adds. A column has two lanes of sums, which are added at the end.
#if !defined(__ARM_NEON)
#error "this file needs the flags of neon (kernels/sources.cmake)"
#endif
#include "kernels/arm/gemm_row_neon.hpp"
#include "kernels/variants.hpp"
#if EMBERT_AARCH64
#include "kernels/arm/gemm_tiles_aarch64.hpp"
#else
#include "kernels/arm/gemm_tiles_armv7.hpp"
#endif

namespace embert {
namespace {

// The last of an odd number of rows, half a panel at a time.
void last_row(const uint8_t* lhs, const Panel& panel, int32_t* dst) {
  const size_t steps = panel.steps;
  for (size_t c = 0; c < kPanelColumns; c += kHalf) {
    const int8_t* weights = panel.rhs + c * kStepInputs;
    RowSums sums = load_start(panel.start + 2 * c);
    size_t s = 0;
    for (; s + 2 <= steps; s += 2) {
      add_two(lhs + s * kStepInputs, weights + s * kStepBytes, &sums);
    }
    if (s < steps) add_one(lhs + s * kStepInputs, weights + s * kStepBytes, &sums);
    store(sums, dst + c);
  }
}

// The start of a panel's sums, bias and correction. Column c has lanes 2 c and 2 c + 1, which a row
// adds at its end.
void prepare_start(const GemmArgs& args, size_t j, int32_t* start) {
  const int32_t correction = lhs_correction(args.lhs_type);
#pragma GCC unroll 4
  for (size_t c = 0; c < kPanelColumns; c += 4) {
    int32x4_t x = args.bias != nullptr ? vld1q_s32(args.bias + j + c) : vdupq_n_s32(0);
    if (correction != 0) x = vmlaq_n_s32(x, vld1q_s32(args.sums + j + c), correction);
    const int32x4x2_t lanes = {{x, vdupq_n_s32(0)}};
    vst2q_s32(start + 2 * c, lanes);
  }
}

}  // namespace

void gemm_s32_n16k4_neon(const GemmArgs& all) {
  const GemmArgs args = all;  // a copy, which no store can change
  const size_t most = RowPairs::most_rows(args.k);
  for (size_t i = 0; i < args.m; i += most) {
    const size_t m = args.m - i < most ? args.m - i : most, tiles = m / 2;
    const uint8_t* lhs = args.lhs + i * args.lhs_stride;
    const RowPairs pairs({lhs, args.lhs_stride}, m, args.k);
    for (size_t j = 0; j < args.n; j += kPanelColumns) {
      int32_t* dst = args.dst + i * args.dst_stride + j;
      int32_t start[2 * kPanelColumns];
      prepare_start(args, j, start);
      const Panel panel = {args.rhs + j * args.k, args.k / kStepInputs, start};
      if (tiles > 0) full_tiles(tiles, pairs, panel, {dst, args.dst_stride});
      if (m % 2 != 0) {
        last_row(lhs + (m - 1) * args.lhs_stride, panel, dst + (m - 1) * args.dst_stride);
      }
    }
  }
}

}  // namespace embert
