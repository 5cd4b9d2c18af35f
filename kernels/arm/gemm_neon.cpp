// SPDX-License-Identifier: Apache-2.0
// SMULL and SMLAL on pairs of steps, tiles of 2 rows x 16 columns. Two products of a left byte
// (-128..127) and a weight (-127..127) fit 16 bits, so a step is multiplied into 16-bit lanes, the
// next one added to it, and SADALP adds neighbouring lanes to 32-bit sums: 3 instructions for 16
// multiply-adds. A column has two lanes of a sum, which meet at the end.
// An iteration (2 steps) is 48 such instructions for 256 multiply-adds, and 4 loads: 16 sums, 8
// weights, 4 inputs and temporaries fill the 32 registers.
#if !defined(__ARM_NEON)
#error "this file needs the flags of the cluster neon (isa_flags.cmake)"
#endif
#include "kernels/arm/lanes_neon.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

constexpr size_t kTileRows = 2;
constexpr size_t kVectors = 4;  // of 4 columns in a panel
constexpr size_t kStepBytes = kPanelColumns * kStepInputs;

// Adds the products of one vector of weights in two steps, halves apart.
EMBERT_INLINE void add_products(int32x4_t* sum, const int32x4x2_t& inputs, int8x16_t w0,
                                int8x16_t w1) {
  const int8x16_t x0 = vreinterpretq_s8_s32(inputs.val[0]);
  const int8x16_t x1 = vreinterpretq_s8_s32(inputs.val[1]);
  const int16x8_t low =
      vmlal_s8(vmull_s8(vget_low_s8(x0), vget_low_s8(w0)), vget_low_s8(x1), vget_low_s8(w1));
  const int16x8_t high = vmlal_high_s8(vmull_high_s8(x0, w0), x1, w1);
  sum[0] = vpadalq_s16(sum[0], low);
  sum[1] = vpadalq_s16(sum[1], high);
}

template <size_t Rows>
[[gnu::noinline]] void tile(const uint8_t* lhs, size_t lhs_stride, const int8_t* rhs, size_t steps,
                            const int32_t* start, int32_t* dst, size_t dst_stride) {
  int32x4_t sum[Rows][2 * kVectors];
#pragma GCC unroll 2
  for (size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 8
    for (size_t v = 0; v < 2 * kVectors; ++v) sum[r][v] = vdupq_n_s32(0);
  }
  const uint8_t* second = lhs + (Rows - 1) * lhs_stride;
  size_t s = 0;
  for (; s + 2 <= steps; s += 2, rhs += 2 * kStepBytes, lhs += 8, second += 8) {
    const int8x16x4_t w0 = vld1q_s8_x4(rhs), w1 = vld1q_s8_x4(rhs + kStepBytes);
#pragma GCC unroll 2
    for (size_t r = 0; r < Rows; ++r) {
      const int32x4x2_t inputs =
          vld2q_dup_s32(reinterpret_cast<const int32_t*>(r == 0 ? lhs : second));
#pragma GCC unroll 4
      for (size_t v = 0; v < kVectors; ++v) {
        add_products(&sum[r][2 * v], inputs, w0.val[v], w1.val[v]);
      }
    }
  }
  if (s < steps) {
    const int8x16x4_t w = vld1q_s8_x4(rhs);
#pragma GCC unroll 2
    for (size_t r = 0; r < Rows; ++r) {
      const int8x16_t x = vreinterpretq_s8_s32(
          vld1q_dup_s32(reinterpret_cast<const int32_t*>(r == 0 ? lhs : second)));
#pragma GCC unroll 4
      for (size_t v = 0; v < kVectors; ++v) {
        sum[r][2 * v] = vpadalq_s16(sum[r][2 * v], vmull_s8(vget_low_s8(x), vget_low_s8(w.val[v])));
        sum[r][2 * v + 1] = vpadalq_s16(sum[r][2 * v + 1], vmull_high_s8(x, w.val[v]));
      }
    }
  }
  const int32x4x4_t first = vld1q_s32_x4(start);
#pragma GCC unroll 2
  for (size_t r = 0; r < Rows; ++r) {
    int32x4x4_t result;
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) {
      result.val[v] = vaddq_s32(vpaddq_s32(sum[r][2 * v], sum[r][2 * v + 1]), first.val[v]);
    }
    vst1q_s32_x4(dst + r * dst_stride, result);
  }
}

// What the sums of a panel start with.
void panel_start(const GemmArgs& args, size_t j, int32_t* start) {
  const int32_t correction = lhs_correction(args.lhs_type);
  for (size_t c = 0; c < kPanelColumns; c += 4) {
    int32x4_t x = args.bias != nullptr ? vld1q_s32(args.bias + j + c) : vdupq_n_s32(0);
    if (correction != 0) x = vmlaq_n_s32(x, vld1q_s32(args.sums + j + c), correction);
    vst1q_s32(start + c, x);
  }
}

}  // namespace

void gemm_s32_n16k4_neon(const GemmArgs& args) {
  const size_t steps = args.k / kStepInputs;
  for (size_t j = 0; j < args.n; j += kPanelColumns) {
    int32_t start[kPanelColumns];
    panel_start(args, j, start);
    const int8_t* rhs = args.rhs + j * args.k;
    size_t i = 0;
    for (; i + kTileRows <= args.m; i += kTileRows) {
      tile<kTileRows>(args.lhs + i * args.lhs_stride, args.lhs_stride, rhs, steps, start,
                      args.dst + i * args.dst_stride + j, args.dst_stride);
    }
    if (i < args.m) {
      tile<1>(args.lhs + i * args.lhs_stride, args.lhs_stride, rhs, steps, start,
              args.dst + i * args.dst_stride + j, args.dst_stride);
    }
  }
}

}  // namespace embert
