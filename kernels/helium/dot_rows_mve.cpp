// SPDX-License-Identifier: Apache-2.0
// Products with a row-major table in tiles of 2 x 2 rows: VMLADAVA multiplies and adds 16 bytes, so
// 4 of them and 4 loads make 64 multiply-adds (8.0 cycles in llvm-mca's model of cortex-m55). The
// loop counts bytes and predicates its last turn itself, so nothing beyond a row is read.
#include "kernels/helium/lanes_mve.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

// Two rows, which may be one row twice.
struct Pair {
  const int8_t *first, *second;
};

// The four products of two rows of lhs with two of rhs. In assembly, because gcc 12 does not
// generate such loops. The predicate register is changed, but compilers share no name for it that
// the list of changed registers could use; no code around uses predicates.
EMBERT_INLINE void dot(Pair lhs, Pair rhs, size_t k, int32_t (&sums)[4]) {
  const int8_t *a0 = lhs.first, *a1 = lhs.second, *b0 = rhs.first, *b1 = rhs.second;
  int32_t s00 = 0, s01 = 0, s10 = 0, s11 = 0;
  asm volatile(
      "dlstp.8 lr, %[k]\n"
      "1:\n"
      "vldrb.u8 q0, [%[a0]], #16\n"
      "vldrb.u8 q1, [%[b0]], #16\n"
      "vmladava.s8 %[s00], q0, q1\n"
      "vldrb.u8 q2, [%[b1]], #16\n"
      "vmladava.s8 %[s01], q0, q2\n"
      "vldrb.u8 q3, [%[a1]], #16\n"
      "vmladava.s8 %[s10], q3, q1\n"
      "vmladava.s8 %[s11], q3, q2\n"
      "letp lr, 1b\n"
      : [a0] "+r"(a0), [a1] "+r"(a1), [b0] "+r"(b0), [b1] "+r"(b1), [s00] "+Te"(s00),
        [s01] "+Te"(s01), [s10] "+Te"(s10), [s11] "+Te"(s11)
      : [k] "r"(k)
      : "cc", "memory", "lr", "q0", "q1", "q2", "q3");
  sums[0] = s00, sums[1] = s01, sums[2] = s10, sums[3] = s11;
}

}  // namespace

void dot_rows_mve(const DotRowsArgs& all) {
  const DotRowsArgs args = all;  // a copy, which no store can change
  for (size_t j = 0; j < args.n; j += 2) {
    const size_t next_j = j + 1 < args.n ? j + 1 : j;
    for (size_t i = 0; i < args.m; i += 2) {
      const size_t next_i = i + 1 < args.m ? i + 1 : i;
      int32_t sums[4];
      dot({args.lhs + i * args.lhs_stride, args.lhs + next_i * args.lhs_stride},
          {args.rhs + j * args.rhs_stride, args.rhs + next_j * args.rhs_stride}, args.k, sums);
      args.dst[i * args.dst_stride + j] = sums[0];
      args.dst[i * args.dst_stride + next_j] = sums[next_j != j ? 1 : 0];
      args.dst[next_i * args.dst_stride + j] = sums[next_i != i ? 2 : 0];
      if (next_i != i && next_j != j) args.dst[next_i * args.dst_stride + next_j] = sums[3];
    }
  }
}

}  // namespace embert
