// SPDX-License-Identifier: Apache-2.0
// SMULL and SMLAL on pairs of steps, tiles of 2 rows. Two products of a left byte (-128..127) and a
// weight (-127..127) fit 16 bits, so a step is multiplied into 16-bit lanes, the next one added to
// it, and SADALP adds neighbouring lanes to 32-bit sums: 3 instructions for 16 multiply-adds. A
// column has two lanes of a sum, which meet at the end.
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

// A last row, half a panel at a time.
void last_row(const uint8_t* lhs, const int8_t* rhs, size_t steps, const int32_t* start,
              int32_t* dst) {
  for (size_t c = 0; c < kPanelColumns; c += kHalf) {
    const int8_t* weights = rhs + c * kStepInputs;
    const int32x4_t zero = vdupq_n_s32(0);
    RowSums sums = {{zero, zero, zero, zero}};
    size_t s = 0;
    for (; s + 2 <= steps; s += 2) {
      add_two(lhs + s * kStepInputs, weights + s * kStepBytes, &sums);
    }
    if (s < steps) add_one(lhs + s * kStepInputs, weights + s * kStepBytes, &sums);
    store(sums, start + c, dst + c);
  }
}

// What the sums of a panel start with: the bias where it stands, or 16 sums in start.
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
  const size_t steps = args.k / kStepInputs;
  for (size_t j = 0; j < args.n; j += kPanelColumns) {
    int32_t zero_or_sum[kPanelColumns];
    const int32_t* start = panel_start(args, j, zero_or_sum);
    const int8_t* rhs = args.rhs + j * args.k;
    const size_t tiles = args.m / 2, done = 2 * tiles;
    if (tiles > 0) {
      full_tiles(tiles, args.lhs, args.lhs_stride, rhs, steps, start, args.dst + j,
                 args.dst_stride);
    }
    if (done < args.m) {
      last_row(args.lhs + done * args.lhs_stride, rhs, steps, start,
               args.dst + done * args.dst_stride + j);
    }
  }
}

}  // namespace embert
