// SPDX-License-Identifier: Apache-2.0
// Tiles of 2 rows x 16 columns. An iteration (2 steps) is 48 instructions for 256 multiply-adds, 4
// loads and 2 more instructions: 0.21 instructions a multiply-add, nothing spilled.
#pragma once

#include "kernels/arm/gemm_row_neon.hpp"

namespace embert {
namespace {

// Full tiles of one panel. Registers: v0-v3 and v4-v7 weights of two steps, v8 and v9 inputs of a
// row in both, four times each, v10-v13 products, v16-v31 sums, 8 of a row: two lanes a column. In
// assembly, because gcc 12 spills sums where registers come in lists.
void full_tiles(size_t tiles, MatrixView<const uint8_t> rows, const Panel& panel,
                MatrixView<int32_t> sums) {
  const uint8_t *lhs = rows.data, *second = lhs + rows.stride;
  int32_t* dst = sums.data;
  const int8_t* weights;
  size_t twos;
  const size_t next = 2 * rows.stride - panel.steps / 2 * 8;  // from a row's end to the next tile
  asm volatile(
      // Two vectors of weights, 8 columns: all products of one step, then those of the next.
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
      : [rhs] "r"(panel.rhs), [steps] "r"(panel.steps), [next] "r"(next), [start] "r"(panel.start),
        [stride] "r"(4 * sums.stride)
      : "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11",
        "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24",
        "v25", "v26", "v27", "v28", "v29", "v30", "v31");
}

}  // namespace
}  // namespace embert
