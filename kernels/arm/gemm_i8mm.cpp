// SPDX-License-Identifier: Apache-2.0
// SMMLA: 2 rows x 8 inputs times 2 columns x 8 inputs, tiles of up to 8 rows x 8 columns. Both
// operands are brought into its order once, in chunks on the stack: the rows of a block of 32 for
// all panels (ST2 of halves), the weights of a panel for all rows of a block (ST2 of words, which
// brings the two steps of a column together).
// An iteration (64 inputs) is 128 SMMLA for 4096 multiply-adds, 16 loads of 4 registers and 2 more:
// 0.036 instructions a multiply-add, nothing spilled.
#if !defined(__ARM_FEATURE_MATMUL_INT8)
#error "this file needs the flags of the cluster i8mm (isa_flags.cmake)"
#endif
#include "kernels/arm/lanes_neon.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

constexpr size_t kBlockRows = 32;
constexpr size_t kTileRows = 8;
constexpr size_t kVectors = 4;   // pairs of columns in half a panel
constexpr size_t kGroup = 16;    // inputs of an iteration: two SMMLA deep
constexpr size_t kChunk = 1024;  // inputs
constexpr size_t kStepBytes = kPanelColumns * kStepInputs;

struct Operands {
  alignas(64) int8_t lhs[kBlockRows * kChunk];  // tiles of 2 P rows: [group][P][2][2 rows][8]
  alignas(64) int8_t rhs[2][8 * kChunk];        // halves of 8 columns: [group][2][4][2 columns][8]
};

// Rows of a full tile, two groups at a time.
void pack_two_groups(const uint8_t* const* row, size_t count, int8_t* dst) {
  const uint8_t *r0 = row[0], *r1 = row[1], *r2 = row[2], *r3 = row[3];
  const uint8_t *r4 = row[4], *r5 = row[5], *r6 = row[6], *r7 = row[7];
  int8_t* next = dst + 128;
  asm volatile(
      ".macro embert_pair a, b\n"
      "ldp q0, q2, [\\a], #32\n"
      "ldp q1, q3, [\\b], #32\n"
      "st2 {v0.2d, v1.2d}, [%[dst]], #32\n"
      "st2 {v2.2d, v3.2d}, [%[next]], #32\n"
      ".endm\n"
      "1:\n"
      "embert_pair %[r0], %[r1]\n"
      "embert_pair %[r2], %[r3]\n"
      "embert_pair %[r4], %[r5]\n"
      "embert_pair %[r6], %[r7]\n"
      "add %[dst], %[dst], #128\n"
      "add %[next], %[next], #128\n"
      "subs %[count], %[count], #1\n"
      "b.ne 1b\n"
      ".purgem embert_pair\n"
      : [r0] "+r"(r0), [r1] "+r"(r1), [r2] "+r"(r2), [r3] "+r"(r3), [r4] "+r"(r4), [r5] "+r"(r5),
        [r6] "+r"(r6), [r7] "+r"(r7), [dst] "+r"(dst), [next] "+r"(next), [count] "+r"(count)
      :
      : "cc", "memory", "v0", "v1", "v2", "v3");
}

// Up to 8 rows as a tile of pairs, the last row twice if it has no other. What k lacks to whole
// groups becomes zero.
void pack_tile(const uint8_t* lhs, size_t stride, size_t rows, size_t k, int8_t* dst) {
  const uint8_t* row[kTileRows];
  for (size_t r = 0; r < kTileRows; ++r) row[r] = lhs + (r < rows ? r : rows - 1) * stride;
  const size_t pairs = (rows + 1) / 2, two_groups = rows == kTileRows ? k / (2 * kGroup) : 0;
  if (two_groups > 0) pack_two_groups(row, two_groups, dst);
  dst += two_groups * 2 * 128;
  for (size_t c = two_groups * 2 * kGroup; c < k; c += kGroup) {
    const size_t inputs = k - c < kGroup ? k - c : kGroup;
    for (size_t p = 0; p < pairs; ++p, dst += 32) {
      uint8_t last[2][kGroup] = {};
      const uint8_t *a = row[2 * p] + c, *b = row[2 * p + 1] + c;
      if (inputs < kGroup) {
        memcpy(last[0], a, inputs);
        memcpy(last[1], b, inputs);
        a = last[0];
        b = last[1];
      }
      const int64x2x2_t x = {
          {vreinterpretq_s64_u8(vld1q_u8(a)), vreinterpretq_s64_u8(vld1q_u8(b))}};
      vst2q_s64(reinterpret_cast<int64_t*>(dst), x);
    }
  }
}

// Groups of a panel, 4 steps each, to both halves. Registers 2 i and 2 i + 1 hold the same 4
// columns of neighbouring steps, which ST2 joins.
void pack_groups(const int8_t* rhs, size_t groups, int8_t* low, int8_t* high) {
  asm volatile(
      "1:\n"
      "ldp q0, q2, [%[rhs]], #256\n"
      "ldp q4, q6, [%[rhs], #-224]\n"
      "ldp q1, q3, [%[rhs], #-192]\n"
      "ldp q5, q7, [%[rhs], #-160]\n"
      "ldp q16, q18, [%[rhs], #-128]\n"
      "ldp q20, q22, [%[rhs], #-96]\n"
      "ldp q17, q19, [%[rhs], #-64]\n"
      "ldp q21, q23, [%[rhs], #-32]\n"
      "st2 {v0.4s, v1.4s}, [%[low]], #32\n"
      "st2 {v2.4s, v3.4s}, [%[low]], #32\n"
      "st2 {v4.4s, v5.4s}, [%[high]], #32\n"
      "st2 {v6.4s, v7.4s}, [%[high]], #32\n"
      "st2 {v16.4s, v17.4s}, [%[low]], #32\n"
      "st2 {v18.4s, v19.4s}, [%[low]], #32\n"
      "st2 {v20.4s, v21.4s}, [%[high]], #32\n"
      "st2 {v22.4s, v23.4s}, [%[high]], #32\n"
      "subs %[groups], %[groups], #1\n"
      "b.ne 1b\n"
      : [rhs] "+r"(rhs), [low] "+r"(low), [high] "+r"(high), [groups] "+r"(groups)
      :
      : "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19",
        "v20", "v21", "v22", "v23");
}

void pack_weights(const int8_t* rhs, size_t k, int8_t* low, int8_t* high) {
  const size_t groups = k / kGroup, left = k % kGroup;
  if (groups > 0) pack_groups(rhs, groups, low, high);
  if (left > 0) {
    int8_t last[4 * kStepBytes] = {};
    memcpy(last, rhs + groups * 4 * kStepBytes, left / kStepInputs * kStepBytes);
    pack_groups(last, 1, low + 128 * groups, high + 128 * groups);
  }
}

// Tiles of 8 rows, one below the other: v0-v7 inputs (pair p: 2 p and 2 p + 1, the halves of a
// group), v8-v15 weights of both halves, v16-v31 sums, 4 of a pair. step: bytes from one pair's
// start to the next one's. In assembly, because gcc 12 spills sums where registers come in lists of
// four.
void full_tiles(size_t tiles, const int8_t* lhs, const int8_t* rhs, size_t groups,
                const int32_t* start, size_t step, int32_t* dst, size_t stride_bytes) {
  const int8_t* weights;
  size_t fours, rest;
  asm volatile(
      ".macro embert_mmla s0, s1, s2, s3, x, w0, w1, w2, w3\n"
      "smmla v\\s0\\().4s, v\\x\\().16b, v\\w0\\().16b\n"
      "smmla v\\s1\\().4s, v\\x\\().16b, v\\w1\\().16b\n"
      "smmla v\\s2\\().4s, v\\x\\().16b, v\\w2\\().16b\n"
      "smmla v\\s3\\().4s, v\\x\\().16b, v\\w3\\().16b\n"
      ".endm\n"
      ".macro embert_group\n"
      "ld1 {v0.16b-v3.16b}, [%[lhs]], #64\n"
      "ld1 {v8.16b-v11.16b}, [%[weights]], #64\n"
      "ld1 {v4.16b-v7.16b}, [%[lhs]], #64\n"
      "ld1 {v12.16b-v15.16b}, [%[weights]], #64\n"
      "embert_mmla 16, 17, 18, 19, 0, 8, 9, 10, 11\n"
      "embert_mmla 20, 21, 22, 23, 2, 8, 9, 10, 11\n"
      "embert_mmla 24, 25, 26, 27, 4, 8, 9, 10, 11\n"
      "embert_mmla 28, 29, 30, 31, 6, 8, 9, 10, 11\n"
      "embert_mmla 16, 17, 18, 19, 1, 12, 13, 14, 15\n"
      "embert_mmla 20, 21, 22, 23, 3, 12, 13, 14, 15\n"
      "embert_mmla 24, 25, 26, 27, 5, 12, 13, 14, 15\n"
      "embert_mmla 28, 29, 30, 31, 7, 12, 13, 14, 15\n"
      ".endm\n"
      ".macro embert_store s0, s1, s2, s3\n"
      "zip1 v0.2d, v\\s0\\().2d, v\\s1\\().2d\n"
      "zip1 v1.2d, v\\s2\\().2d, v\\s3\\().2d\n"
      "zip2 v2.2d, v\\s0\\().2d, v\\s1\\().2d\n"
      "zip2 v3.2d, v\\s2\\().2d, v\\s3\\().2d\n"
      "st1 {v0.4s, v1.4s}, [%[dst]], %[stride]\n"
      "st1 {v2.4s, v3.4s}, [%[dst]], %[stride]\n"
      ".endm\n"
      "0:\n"
      "mov %[weights], %[rhs]\n"
      "lsr %[fours], %[groups], #2\n"
      "and %[rest], %[groups], #3\n"
      "ld1 {v16.4s-v19.4s}, [%[start]], %[step]\n"
      "ld1 {v20.4s-v23.4s}, [%[start]], %[step]\n"
      "ld1 {v24.4s-v27.4s}, [%[start]], %[step]\n"
      "ld1 {v28.4s-v31.4s}, [%[start]], %[step]\n"
      "cbz %[fours], 2f\n"
      "1:\n"
      ".rept 4\n"
      "embert_group\n"
      ".endr\n"
      "subs %[fours], %[fours], #1\n"
      "b.ne 1b\n"
      "2:\n"
      "cbz %[rest], 4f\n"
      "3:\n"
      "embert_group\n"
      "subs %[rest], %[rest], #1\n"
      "b.ne 3b\n"
      "4:\n"
      "embert_store 16, 17, 18, 19\n"
      "embert_store 20, 21, 22, 23\n"
      "embert_store 24, 25, 26, 27\n"
      "embert_store 28, 29, 30, 31\n"
      "subs %[tiles], %[tiles], #1\n"
      "b.ne 0b\n"
      ".purgem embert_mmla\n"
      ".purgem embert_group\n"
      ".purgem embert_store\n"
      : [lhs] "+r"(lhs), [weights] "=&r"(weights), [fours] "=&r"(fours), [rest] "=&r"(rest),
        [start] "+r"(start), [dst] "+r"(dst), [tiles] "+r"(tiles)
      : [rhs] "r"(rhs), [groups] "r"(groups), [step] "r"(step), [stride] "r"(stride_bytes)
      : "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11",
        "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24",
        "v25", "v26", "v27", "v28", "v29", "v30", "v31");
}

EMBERT_INLINE int32x4_t first_halves(int32x4_t a, int32x4_t b) {
  return vreinterpretq_s32_s64(vzip1q_s64(vreinterpretq_s64_s32(a), vreinterpretq_s64_s32(b)));
}
EMBERT_INLINE int32x4_t second_halves(int32x4_t a, int32x4_t b) {
  return vreinterpretq_s32_s64(vzip2q_s64(vreinterpretq_s64_s32(a), vreinterpretq_s64_s32(b)));
}

// Sums that wait in dst, in the order of a tile's registers.
void load_sums(const int32_t* dst, size_t stride, size_t rows, int32_t* start) {
  for (size_t row = 0; row < rows; row += 2, start += 16) {
    const int32_t* a = dst + row * stride;
    const int32_t* b = row + 1 < rows ? a + stride : a;
#pragma GCC unroll 2
    for (size_t v = 0; v < 2; ++v) {
      const int32x4_t x = vld1q_s32(a + 4 * v), y = vld1q_s32(b + 4 * v);
      vst1q_s32(start + 8 * v, first_halves(x, y));
      vst1q_s32(start + 8 * v + 4, second_halves(x, y));
    }
  }
}

// What no full tile holds, a pair at a time; the last may lack its second row.
void last_tile(size_t rows, const int8_t* lhs, const int8_t* rhs, size_t groups,
               const int32_t* start, size_t step, int32_t* dst, size_t stride) {
  const size_t pairs = (rows + 1) / 2;
  for (size_t p = 0; p < pairs; ++p, dst += 2 * stride) {
    int32x4x4_t sum = vld1q_s32_x4(start + p * step);
    const int8_t* weights = rhs;
    for (size_t g = 0; g < groups; ++g, weights += 128) {
      const int8_t* inputs = lhs + (g * pairs + p) * 32;
#pragma GCC unroll 2
      for (size_t half = 0; half < 2; ++half) {
        const int8x16_t x = vld1q_s8(inputs + 16 * half);
#pragma GCC unroll 4
        for (size_t v = 0; v < kVectors; ++v) {
          sum.val[v] = vmmlaq_s32(sum.val[v], x, vld1q_s8(weights + 64 * half + 16 * v));
        }
      }
    }
    vst1q_s32(dst, first_halves(sum.val[0], sum.val[1]));
    vst1q_s32(dst + 4, first_halves(sum.val[2], sum.val[3]));
    if (2 * p + 1 < rows) {
      vst1q_s32(dst + stride, second_halves(sum.val[0], sum.val[1]));
      vst1q_s32(dst + stride + 4, second_halves(sum.val[2], sum.val[3]));
    }
  }
}

// A block of rows with half a panel. start: what the sums start with, or null for what dst holds.
void multiply(size_t rows, const int8_t* lhs, const int8_t* rhs, size_t groups,
              const int32_t* start, int32_t* dst, size_t stride) {
  int32_t waiting[8 * kBlockRows];
  const size_t step = start == nullptr ? 16 : 0;  // from pair to pair
  if (start == nullptr) {
    load_sums(dst, stride, rows, waiting);
    start = waiting;
  }
  const size_t full = rows / kTileRows, done = full * kTileRows;
  if (full > 0) full_tiles(full, lhs, rhs, groups, start, 4 * step, dst, 4 * stride);
  if (done < rows) {
    last_tile(rows - done, lhs + done * groups * kGroup, rhs, groups, start + done / 2 * step, step,
              dst + done * stride, stride);
  }
}

// What the sums of a panel start with: each pair of columns twice, as in a sum.
void panel_start(const GemmArgs& args, size_t j, int32_t* start) {
  const int32_t correction = lhs_correction(args.lhs_type);
#pragma GCC unroll 4
  for (size_t c = 0; c < kPanelColumns; c += 4) {
    int32x4_t x = args.bias != nullptr ? vld1q_s32(args.bias + j + c) : vdupq_n_s32(0);
    if (correction != 0) x = vmlaq_n_s32(x, vld1q_s32(args.sums + j + c), correction);
    vst1q_s32(start + 2 * c, first_halves(x, x));
    vst1q_s32(start + 2 * c + 4, second_halves(x, x));
  }
}

}  // namespace

void gemm_s32_n16k4_i8mm(const GemmArgs& all) {
  const GemmArgs args = all;  // a copy, which no store can change
  Operands operands;
  const size_t chunks = args.k > kChunk ? (args.k + kChunk - 1) / kChunk : 1;
  const size_t chunk_inputs = round_up((args.k + chunks - 1) / chunks, 2 * kGroup);
  for (size_t i = 0; i < args.m; i += kBlockRows) {
    const size_t m = args.m - i < kBlockRows ? args.m - i : kBlockRows;
    for (size_t c = 0; c == 0 || c < args.k; c += chunk_inputs) {
      const size_t k = args.k - c < chunk_inputs ? args.k - c : chunk_inputs;
      const size_t groups = (k + kGroup - 1) / kGroup;
      for (size_t row = 0; row < m; row += kTileRows) {
        pack_tile(args.lhs + (i + row) * args.lhs_stride + c, args.lhs_stride,
                  m - row < kTileRows ? m - row : kTileRows, k,
                  operands.lhs + row * groups * kGroup);
      }
      for (size_t j = 0; j < args.n; j += kPanelColumns) {
        int32_t start[2 * kPanelColumns];
        if (c == 0) panel_start(args, j, start);
        pack_weights(args.rhs + j * args.k + c * kPanelColumns, k, operands.rhs[0],
                     operands.rhs[1]);
        for (size_t half = 0; half < 2; ++half) {
          multiply(m, operands.lhs, operands.rhs[half], groups,
                   c == 0 ? start + 16 * half : nullptr,
                   args.dst + i * args.dst_stride + j + 8 * half, args.dst_stride);
        }
      }
    }
  }
}

}  // namespace embert
