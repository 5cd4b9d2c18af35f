// SPDX-License-Identifier: Apache-2.0
// SMULL and SMLAL on pairs of steps, tiles of 2 rows x 16 columns. Two products of a left byte
// (-128..127) and a weight (-127..127) fit 16 bits, so a step is multiplied into 16-bit lanes, the
// next one added to it, and SADALP adds neighbouring lanes to 32-bit sums: 3 instructions for 16
// multiply-adds. A column has two lanes of a sum, which meet at the end.
// An iteration (2 steps) is 48 such instructions for 256 multiply-adds, 4 loads and 2 more: 0.21
// instructions a multiply-add, nothing spilled.
#if !defined(__ARM_NEON)
#error "this file needs the flags of the cluster neon (isa_flags.cmake)"
#endif
#include "kernels/arm/lanes_neon.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

constexpr size_t kVectors = 4;  // of 4 columns in a panel
constexpr size_t kStepBytes = kPanelColumns * kStepInputs;

// Full tiles, one below the other: v0-v3 and v4-v7 weights of two steps, v8, v9 inputs of a row in
// both, four times each, v10-v13 products, v16-v31 sums, 8 of a row: two lanes a column. In
// assembly, because gcc 12 spills sums where registers come in lists.
void full_tiles(size_t tiles, const uint8_t* lhs, size_t lhs_stride, const int8_t* rhs,
                size_t steps, const int32_t* start, int32_t* dst, size_t stride_bytes) {
  const uint8_t* second = lhs + lhs_stride;
  const int8_t* weights;
  size_t twos;
  const size_t next = 2 * lhs_stride - steps / 2 * 8;  // from the end of a row to the next tile
  asm volatile(
      // Two vectors of weights, 8 columns: all products of a step, then those of the next.
      ".macro embert_products s0, s1, s2, s3, a0, a1, b0, b1\n"
      "smull v10.8h, v8.8b, v\\a0\\().8b\n"
      "smull2 v11.8h, v8.16b, v\\a0\\().16b\n"
      "smull v12.8h, v8.8b, v\\a1\\().8b\n"
      "smull2 v13.8h, v8.16b, v\\a1\\().16b\n"
      "smlal v10.8h, v9.8b, v\\b0\\().8b\n"
      "smlal2 v11.8h, v9.16b, v\\b0\\().16b\n"
      "smlal v12.8h, v9.8b, v\\b1\\().8b\n"
      "smlal2 v13.8h, v9.16b, v\\b1\\().16b\n"
      "sadalp v\\s0\\().4s, v10.8h\n"
      "sadalp v\\s1\\().4s, v11.8h\n"
      "sadalp v\\s2\\().4s, v12.8h\n"
      "sadalp v\\s3\\().4s, v13.8h\n"
      ".endm\n"
      ".macro embert_last s0, s1, a\n"
      "smull v10.8h, v8.8b, v\\a\\().8b\n"
      "smull2 v11.8h, v8.16b, v\\a\\().16b\n"
      "sadalp v\\s0\\().4s, v10.8h\n"
      "sadalp v\\s1\\().4s, v11.8h\n"
      ".endm\n"
      ".macro embert_store s0, s1, s2, s3, s4, s5, s6, s7\n"
      "addp v4.4s, v\\s0\\().4s, v\\s1\\().4s\n"
      "addp v5.4s, v\\s2\\().4s, v\\s3\\().4s\n"
      "addp v6.4s, v\\s4\\().4s, v\\s5\\().4s\n"
      "addp v7.4s, v\\s6\\().4s, v\\s7\\().4s\n"
      "add v4.4s, v4.4s, v0.4s\n"
      "add v5.4s, v5.4s, v1.4s\n"
      "add v6.4s, v6.4s, v2.4s\n"
      "add v7.4s, v7.4s, v3.4s\n"
      "st1 {v4.4s-v7.4s}, [%[dst]], %[stride]\n"
      ".endm\n"
      "0:\n"
      "mov %[weights], %[rhs]\n"
      "lsr %[twos], %[steps], #1\n"
      ".irp s, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31\n"
      "movi v\\s\\().4s, #0\n"
      ".endr\n"
      "cbz %[twos], 2f\n"
      "1:\n"
      "ld1 {v0.16b-v3.16b}, [%[weights]], #64\n"
      "ld2r {v8.4s, v9.4s}, [%[lhs]], #8\n"
      "ld1 {v4.16b-v7.16b}, [%[weights]], #64\n"
      "embert_products 16, 17, 18, 19, 0, 1, 4, 5\n"
      "embert_products 20, 21, 22, 23, 2, 3, 6, 7\n"
      "ld2r {v8.4s, v9.4s}, [%[second]], #8\n"
      "embert_products 24, 25, 26, 27, 0, 1, 4, 5\n"
      "embert_products 28, 29, 30, 31, 2, 3, 6, 7\n"
      "subs %[twos], %[twos], #1\n"
      "b.ne 1b\n"
      "2:\n"
      "tbz %[steps], #0, 3f\n"
      "ld1 {v0.16b-v3.16b}, [%[weights]]\n"
      "ld1r {v8.4s}, [%[lhs]]\n"
      "embert_last 16, 17, 0\n"
      "embert_last 18, 19, 1\n"
      "embert_last 20, 21, 2\n"
      "embert_last 22, 23, 3\n"
      "ld1r {v8.4s}, [%[second]]\n"
      "embert_last 24, 25, 0\n"
      "embert_last 26, 27, 1\n"
      "embert_last 28, 29, 2\n"
      "embert_last 30, 31, 3\n"
      "3:\n"
      "ld1 {v0.4s-v3.4s}, [%[start]]\n"
      "embert_store 16, 17, 18, 19, 20, 21, 22, 23\n"
      "embert_store 24, 25, 26, 27, 28, 29, 30, 31\n"
      "add %[lhs], %[lhs], %[next]\n"
      "add %[second], %[second], %[next]\n"
      "subs %[tiles], %[tiles], #1\n"
      "b.ne 0b\n"
      ".purgem embert_products\n"
      ".purgem embert_last\n"
      ".purgem embert_store\n"
      : [lhs] "+r"(lhs), [second] "+r"(second), [weights] "=&r"(weights), [twos] "=&r"(twos),
        [dst] "+r"(dst), [tiles] "+r"(tiles)
      : [rhs] "r"(rhs), [steps] "r"(steps), [next] "r"(next), [start] "r"(start),
        [stride] "r"(stride_bytes)
      : "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11",
        "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24",
        "v25", "v26", "v27", "v28", "v29", "v30", "v31");
}

// A last row, a vector of weights at a time.
void last_row(const uint8_t* lhs, const int8_t* rhs, size_t steps, const int32_t* start,
              int32_t* dst) {
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) {
    int32x4_t low = vdupq_n_s32(0), high = low;
    for (size_t s = 0; s < steps; ++s) {
      int32_t word;
      memcpy(&word, lhs + s * kStepInputs, sizeof(word));
      const int8x16_t x = vreinterpretq_s8_s32(vdupq_n_s32(word));
      const int8x16_t w = vld1q_s8(rhs + s * kStepBytes + 16 * v);
      low = vpadalq_s16(low, vmull_s8(vget_low_s8(x), vget_low_s8(w)));
      high = vpadalq_s16(high, vmull_high_s8(x, w));
    }
    vst1q_s32(dst + 4 * v, vaddq_s32(vpaddq_s32(low, high), vld1q_s32(start + 4 * v)));
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
                 4 * args.dst_stride);
    }
    if (done < args.m) {
      last_row(args.lhs + done * args.lhs_stride, rhs, steps, start,
               args.dst + done * args.dst_stride + j);
    }
  }
}

}  // namespace embert
