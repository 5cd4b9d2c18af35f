// SPDX-License-Identifier: Apache-2.0
// Tiles of 2 rows x 16 columns. An iteration (8 steps) is 192 instructions for 1024 multiply-adds,
// 12 loads and 2 more instructions: 0.201 instructions a multiply-add, nothing spilled. A tile has
// 20 instructions besides.
#pragma once

#include "kernels/arm/gemm_row_neon.hpp"

namespace embert {
namespace {

// Rows in pairs, as LD4R takes them: two steps of the first row, then the same steps of the second.
// A last odd step is a word of each row.
class RowPairs {
 public:
  static size_t most_rows(size_t k) { return kBytes / k / 2 * 2; }

  RowPairs(MatrixView<const uint8_t> rows, size_t m, size_t k) {
    uint8_t* dst = bytes_;
    for (size_t i = 0; i + 2 <= m; i += 2) {
      const uint8_t *first = rows.data + i * rows.stride, *second = first + rows.stride;
      size_t c = k / 64 * 64;
      if (c != 0) dst = pack(first, second, c, dst);
      for (; c + 16 <= k; c += 16, dst += 32) {
        const uint64x2x2_t both = {{vreinterpretq_u64_u8(vld1q_u8(first + c)),
                                    vreinterpretq_u64_u8(vld1q_u8(second + c))}};
        vst2q_u64(reinterpret_cast<uint64_t*>(dst), both);
      }
      for (size_t n; c < k; c += n, dst += 2 * n) {
        n = k - c >= 2 * kStepInputs ? 2 * kStepInputs : kStepInputs;
        memcpy(dst, first + c, n);
        memcpy(dst + n, second + c, n);
      }
    }
  }
  const uint8_t* bytes() const { return bytes_; }

 private:
  // The first k inputs, a multiple of 64. In assembly, because with intrinsics gcc loads one
  // register at a time.
  static uint8_t* pack(const uint8_t* first, const uint8_t* second, size_t k, uint8_t* dst) {
    size_t count = k / 64;
    asm volatile(
        "1:\n"
        ".rept 2\n"
        "ldp q0, q2, [%[first]], #32\n"
        "ldp q1, q3, [%[second]], #32\n"
        "st2 {v0.2d, v1.2d}, [%[dst]], #32\n"
        "st2 {v2.2d, v3.2d}, [%[dst]], #32\n"
        ".endr\n"
        "subs %[count], %[count], #1\n"
        "b.ne 1b\n"
        : [first] "+r"(first), [second] "+r"(second), [dst] "+r"(dst), [count] "+r"(count)
        :
        : "cc", "memory", "v0", "v1", "v2", "v3");
    return dst;
  }

  static constexpr size_t kBytes = 48 * 1024;
  alignas(16) uint8_t bytes_[kBytes];  // [m / 2][k][2]
};

// Full tiles of one panel. Registers: v0-v3 and v4-v7 weights of two steps, v12-v15 inputs of both
// rows in both, four times each, v8-v11 products, v16-v31 sums, 8 of a row: two lanes a column. In
// assembly, because gcc 12 spills sums where registers come in lists.
void full_tiles(size_t tiles, const RowPairs& pairs, const Panel& panel, MatrixView<int32_t> sums) {
  const uint8_t* lhs = pairs.bytes();
  int32_t* dst = sums.data;
  const int8_t* weights;
  size_t count;
  asm volatile(
      // Two vectors of weights, 8 columns: all products of one step, then those of the next.
      ".macro embert_products s0, s1, s2, s3, a0, a1, b0, b1, x, y\n"
      "smull v8.8h, v\\x\\().8b, v\\a0\\().8b\n"
      "smull2 v9.8h, v\\x\\().16b, v\\a0\\().16b\n"
      "smull v10.8h, v\\x\\().8b, v\\a1\\().8b\n"
      "smull2 v11.8h, v\\x\\().16b, v\\a1\\().16b\n"
      "smlal v8.8h, v\\y\\().8b, v\\b0\\().8b\n"
      "smlal2 v9.8h, v\\y\\().16b, v\\b0\\().16b\n"
      "smlal v10.8h, v\\y\\().8b, v\\b1\\().8b\n"
      "smlal2 v11.8h, v\\y\\().16b, v\\b1\\().16b\n"
      "sadalp v\\s0\\().4s, v8.8h\n"
      "sadalp v\\s1\\().4s, v9.8h\n"
      "sadalp v\\s2\\().4s, v10.8h\n"
      "sadalp v\\s3\\().4s, v11.8h\n"
      ".endm\n"
      ".macro embert_last s0, s1, a, x\n"
      "smull v8.8h, v\\x\\().8b, v\\a\\().8b\n"
      "smull2 v9.8h, v\\x\\().16b, v\\a\\().16b\n"
      "sadalp v\\s0\\().4s, v8.8h\n"
      "sadalp v\\s1\\().4s, v9.8h\n"
      ".endm\n"
      ".macro embert_store s0, s1, s2, s3, s4, s5, s6, s7\n"
      "addp v4.4s, v\\s0\\().4s, v\\s1\\().4s\n"
      "addp v5.4s, v\\s2\\().4s, v\\s3\\().4s\n"
      "addp v6.4s, v\\s4\\().4s, v\\s5\\().4s\n"
      "addp v7.4s, v\\s6\\().4s, v\\s7\\().4s\n"
      "st1 {v4.4s-v7.4s}, [%[dst]], %[stride]\n"
      ".endm\n"
      ".macro embert_two_steps\n"
      "ld1 {v0.16b-v3.16b}, [%[weights]], #64\n"
      "ld4r {v12.4s-v15.4s}, [%[lhs]], #16\n"
      "ld1 {v4.16b-v7.16b}, [%[weights]], #64\n"
      "embert_products 16, 17, 18, 19, 0, 1, 4, 5, 12, 13\n"
      "embert_products 20, 21, 22, 23, 2, 3, 6, 7, 12, 13\n"
      "embert_products 24, 25, 26, 27, 0, 1, 4, 5, 14, 15\n"
      "embert_products 28, 29, 30, 31, 2, 3, 6, 7, 14, 15\n"
      ".endm\n"
      "0:\n"
      "mov %[weights], %[rhs]\n"
      "ld1 {v16.4s-v19.4s}, [%[start]]\n"
      "ld1 {v20.4s-v23.4s}, [%[right_start]]\n"
      "ld1 {v24.4s-v27.4s}, [%[start]]\n"
      "ld1 {v28.4s-v31.4s}, [%[right_start]]\n"
      "cbz %[eights], 2f\n"
      "mov %[count], %[eights]\n"
      "1:\n"
      ".rept 4\n"
      "embert_two_steps\n"
      ".endr\n"
      "subs %[count], %[count], #1\n"
      "b.ne 1b\n"
      "2:\n"
      "cbz %[rest], 5f\n"
      "lsr %[count], %[rest], #1\n"
      "cbz %[count], 4f\n"
      "3:\n"
      "embert_two_steps\n"
      "subs %[count], %[count], #1\n"
      "b.ne 3b\n"
      "4:\n"
      "tbz %[rest], #0, 5f\n"
      "ld1 {v0.16b-v3.16b}, [%[weights]]\n"
      "ld2r {v12.4s, v13.4s}, [%[lhs]], #8\n"
      "embert_last 16, 17, 0, 12\n"
      "embert_last 18, 19, 1, 12\n"
      "embert_last 20, 21, 2, 12\n"
      "embert_last 22, 23, 3, 12\n"
      "embert_last 24, 25, 0, 13\n"
      "embert_last 26, 27, 1, 13\n"
      "embert_last 28, 29, 2, 13\n"
      "embert_last 30, 31, 3, 13\n"
      "5:\n"
      "embert_store 16, 17, 18, 19, 20, 21, 22, 23\n"
      "embert_store 24, 25, 26, 27, 28, 29, 30, 31\n"
      "subs %[tiles], %[tiles], #1\n"
      "b.ne 0b\n"
      ".purgem embert_products\n"
      ".purgem embert_last\n"
      ".purgem embert_store\n"
      ".purgem embert_two_steps\n"
      : [lhs] "+r"(lhs), [weights] "=&r"(weights), [count] "=&r"(count), [dst] "+r"(dst),
        [tiles] "+r"(tiles)
      : [rhs] "r"(panel.rhs), [eights] "r"(panel.steps / 8), [rest] "r"(panel.steps % 8),
        [start] "r"(panel.start), [right_start] "r"(panel.start + kPanelColumns),
        [stride] "r"(4 * sums.stride)
      : "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11",
        "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24",
        "v25", "v26", "v27", "v28", "v29", "v30", "v31");
}

}  // namespace
}  // namespace embert
