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
    const int32x4_t zero = vdupq_n_s32(0);
    RowSums sums = {{zero, zero, zero, zero}};
    size_t s = 0;
    for (; s + 2 <= steps; s += 2) {
      add_two(lhs + s * kStepInputs, weights + s * kStepBytes, &sums);
    }
    if (s < steps) add_one(lhs + s * kStepInputs, weights + s * kStepBytes, &sums);
    store(sums, panel.start + c, dst + c);
  }
}

// The start of a panel's sums, bias and correction: returns the bias itself or start.
const int32_t* panel_start(const GemmArgs& args, size_t j, int32_t* start) {
  const int32_t correction = lhs_correction(args.lhs_type);
  if (correction == 0 && args.bias != nullptr) return args.bias + j;
#pragma GCC unroll 4
  for (size_t c = 0; c < kPanelColumns; c += 4) {
    int32x4_t x = args.bias != nullptr ? vld1q_s32(args.bias + j + c) : vdupq_n_s32(0);
    if (correction != 0) x = vmlaq_n_s32(x, vld1q_s32(args.sums + j + c), correction);
    vst1q_s32(start + c, x);
  }
  return start;
}

}  // namespace

void gemm_s32_n16k4_neon(const GemmArgs& all) {
  const GemmArgs args = all;  // a copy, which no store can change
  for (size_t j = 0; j < args.n; j += kPanelColumns) {
    int32_t zero_or_sum[kPanelColumns];
    const Panel panel = {args.rhs + j * args.k, args.k / kStepInputs,
                         panel_start(args, j, zero_or_sum)};
    const size_t tiles = args.m / 2, done = 2 * tiles;
    if (tiles > 0) {
      full_tiles(tiles, {args.lhs, args.lhs_stride}, panel, {args.dst + j, args.dst_stride});
    }
    if (done < args.m) {
      last_row(args.lhs + done * args.lhs_stride, panel, args.dst + done * args.dst_stride + j);
    }
  }
}

}  // namespace embert
