// SPDX-License-Identifier: Apache-2.0
// Tiles of 2 rows x 8 columns, half a panel, because 16 registers hold no more sums. An iteration
// (2 steps) is 24 products and sums for 128 multiply-adds, 4 loads and 2 more instructions: 0.23
// instructions a multiply-add, nothing spilled.
#pragma once

#include "kernels/arm/gemm_row_neon.hpp"

namespace embert {
namespace {

// Adds the products of two rows in twos >= 1 pairs of steps. Registers: d0-d3 and d4-d7 weights of
// both steps, d8 and d9 inputs of a row in both, twice each, q5-q7 products. In assembly, because
// gcc 12 spills a sum.
EMBERT_INLINE void add_twos(size_t twos, const uint8_t* lhs, const uint8_t* second,
                            const int8_t* weights, RowSums (&sums)[2]) {
  RowSums *a = &sums[0], *b = &sums[1];
  asm volatile(
      ".macro embert_products s0, s1, s2, s3, between:vararg\n"
      "vmull.s8 q5, d8, d0\n"
      "vmull.s8 q6, d8, d1\n"
      "vmull.s8 q7, d8, d2\n"
      "vmlal.s8 q5, d9, d4\n"
      "vmlal.s8 q6, d9, d5\n"
      "vmlal.s8 q7, d9, d6\n"
      "vpadal.s16 \\s0, q5\n"
      "vmull.s8 q5, d8, d3\n"
      "vpadal.s16 \\s1, q6\n"
      "vmlal.s8 q5, d9, d7\n"
      "vpadal.s16 \\s2, q7\n"
      "\\between\n"
      "vpadal.s16 \\s3, q5\n"
      ".endm\n"
      "1:\n"
      "vld1.8 {d0-d3}, [%[weights]], %[step]\n"
      "vld2.32 {d8[], d9[]}, [%[lhs]]!\n"
      "vld1.8 {d4-d7}, [%[weights]], %[step]\n"
      "embert_products %q[a0], %q[a1], %q[a2], %q[a3], vld2.32 {d8[], d9[]}, [%[second]]!\n"
      "embert_products %q[b0], %q[b1], %q[b2], %q[b3], subs %[twos], %[twos], #1\n"
      "bne 1b\n"
      ".purgem embert_products\n"
      : [lhs] "+r"(lhs), [second] "+r"(second), [weights] "+r"(weights), [twos] "+r"(twos),
        [a0] "+w"(a->pair[0]), [a1] "+w"(a->pair[1]), [a2] "+w"(a->pair[2]), [a3] "+w"(a->pair[3]),
        [b0] "+w"(b->pair[0]), [b1] "+w"(b->pair[1]), [b2] "+w"(b->pair[2]), [b3] "+w"(b->pair[3])
      : [step] "r"(kStepBytes)
      : "cc", "memory", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7");
}

// The rows as they are: both rows of a tile are read in place.
class RowPairs {
 public:
  static size_t most_rows(size_t /*k*/) { return SIZE_MAX; }

  RowPairs(MatrixView<const uint8_t> rows, size_t /*m*/, size_t /*k*/) : rows_(rows) {}
  const uint8_t* row(size_t i) const { return rows_.data + i * rows_.stride; }

 private:
  MatrixView<const uint8_t> rows_;
};

// Full tiles of the left half of a panel, then of the right one.
void full_tiles(size_t tiles, const RowPairs& pairs, const Panel& panel, MatrixView<int32_t> dst) {
  const size_t steps = panel.steps;
  for (size_t c = 0; c < kPanelColumns; c += kHalf) {
    const int8_t* weights = panel.rhs + c * kStepInputs;
    for (size_t i = 0; i < 2 * tiles; i += 2) {
      const uint8_t *first = pairs.row(i), *second = pairs.row(i + 1);
      RowSums sums[2] = {load_start(panel.start + 2 * c), load_start(panel.start + 2 * c)};
      if (steps > 1) add_twos(steps / 2, first, second, weights, sums);
      if (steps % 2 != 0) {
        const size_t last = steps - 1;
        const int8_t* last_weights = weights + last * kStepBytes;
        add_one(first + last * kStepInputs, last_weights, &sums[0]);
        add_one(second + last * kStepInputs, last_weights, &sums[1]);
      }
      store(sums[0], dst.data + i * dst.stride + c);
      store(sums[1], dst.data + (i + 1) * dst.stride + c);
    }
  }
}

}  // namespace
}  // namespace embert
