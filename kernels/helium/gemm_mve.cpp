// SPDX-License-Identifier: Apache-2.0
// VMLADAVA, a dot product of 16 bytes into a general register, in tiles of 3 rows x 2 columns. 16
// inputs of one column are 4 words of n16k4, 64 bytes apart: one gather. So Helium needs no layout
// of its own. A block of 16 inputs is 6 VMLADAVA for 96 multiply-adds, 2 gathers and 3 loads: 11
// instructions (0.115 a multiply-add). The end of the loop costs nothing after its first turn; QEMU
// counts it and gives, for whole products, 0.153 at 16 x 384 x 384, 0.140 at 128 x 384 x 384 and
// 0.335 for one row.
//
// llvm-mca's model of cortex-m55 gives 12.0 cycles a block, 8 multiply-adds a cycle, which is the
// peak, and the same 12.0 with plain loads from a layout with a column's inputs side by side. If a
// core needs a cycle for each gathered word, loads bound the block at 14 cycles (6.9 a cycle). In
// the model tiles of 2 rows reach 8.0, of 1 row 2.9, where most cycles wait for gathers. VMLADAVA
// takes even registers only, 7 beside a loop counter, so 3 x 2 is the largest tile.
#include "kernels/helium/lanes_mve.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

constexpr size_t kColumns = 2;
constexpr size_t kBlock = 16;  // inputs

// Shared by the tiles of one pair of columns. The assembly knows the offsets of its members.
struct Columns {
  int32_t start[kColumns];  // bias and correction
  size_t first;             // inputs of the first block
  size_t blocks;            // after it
  size_t next;              // bytes from the end of a row to the next tile's
  int32_t* dst;
  size_t dst_stride;  // bytes
  size_t tiles;
};

// Inputs are in blocks of 16. The first block holds the remainder, 1 to 16 inputs, so that only its
// loads have a predicate. The inner loop multiplies one block while it loads the next. Registers:
// q0 and q1 columns, q2-q4 rows. In assembly, because gcc 12 keeps neither that order nor the sums
// in even registers. The predicate register is changed, but compilers share no name for it that the
// list of changed registers could use; no code around uses predicates.
template <size_t Rows>
void tiles(Columns columns, const uint8_t* lhs, size_t lhs_stride, const int8_t* rhs) {
  const size_t k = columns.first + columns.blocks * kBlock;
  columns.next = Rows * lhs_stride - k;
  const uint8_t *a0 = lhs, *a1 = a0 + lhs_stride, *a2 = a1 + lhs_stride;
  const uint32_t address = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(rhs));
  const uint32x4_t words = vaddq_n_u32(vshlq_n_u32(vidupq_n_u32(0, 1), 6), address);
  // Addresses of the second block, less the 256 bytes that the loop advances before it loads.
  const uint32x4_t second = vaddq_n_u32(words, 16 * static_cast<uint32_t>(columns.first) - 256);
  uint32x4_t at;
  int32_t s00, s01, s10, s11, s20, s21;
  size_t t;
  asm volatile(
      "0:\n"
      "ldrd %[s00], %[s01], [%[columns]]\n"
      "ldr %[t], [%[columns], #8]\n"
      "vctp.8 %[t]\n"
      "vpstt\n"
      "vldrwt.u32 q0, [%q[words]]\n"
      "vldrbt.u8 q2, [%[a0]]\n"
      "add %[a0], %[a0], %[t]\n"
      "vmladava.s8 %[s00], q0, q2\n"
      ".if %c[rows] > 1\n"
      "ldrd %[s10], %[s11], [%[columns]]\n"
      "vpst\n"
      "vldrbt.u8 q3, [%[a1]]\n"
      "add %[a1], %[a1], %[t]\n"
      ".endif\n"
      ".if %c[rows] > 2\n"
      "ldrd %[s20], %[s21], [%[columns]]\n"
      "vpst\n"
      "vldrbt.u8 q4, [%[a2]]\n"
      "add %[a2], %[a2], %[t]\n"
      ".endif\n"
      "vpst\n"
      "vldrwt.u32 q1, [%q[words], #4]\n"
      "ldr %[t], [%[columns], #12]\n"
      "vmov %q[at], %q[second]\n"
      "wls lr, %[t], 2f\n"
      "1:\n"
      ".if %c[rows] > 1\n"
      "vmladava.s8 %[s10], q0, q3\n"
      ".endif\n"
      ".if %c[rows] > 2\n"
      "vmladava.s8 %[s20], q0, q4\n"
      ".endif\n"
      "vldrw.u32 q0, [%q[at], #256]!\n"
      "vmladava.s8 %[s01], q1, q2\n"
      "vldrb.u8 q2, [%[a0]], #16\n"
      ".if %c[rows] > 1\n"
      "vmladava.s8 %[s11], q1, q3\n"
      "vldrb.u8 q3, [%[a1]], #16\n"
      ".endif\n"
      ".if %c[rows] > 2\n"
      "vmladava.s8 %[s21], q1, q4\n"
      "vldrb.u8 q4, [%[a2]], #16\n"
      ".endif\n"
      "vmladava.s8 %[s00], q0, q2\n"
      "vldrw.u32 q1, [%q[at], #4]\n"
      "le lr, 1b\n"
      "2:\n"
      "vmladava.s8 %[s01], q1, q2\n"
      "ldrd %[t], lr, [%[columns], #20]\n"
      "strd %[s00], %[s01], [%[t]]\n"
      "add %[t], %[t], lr\n"
      ".if %c[rows] > 1\n"
      "vmladava.s8 %[s10], q0, q3\n"
      "vmladava.s8 %[s11], q1, q3\n"
      "strd %[s10], %[s11], [%[t]]\n"
      "add %[t], %[t], lr\n"
      ".endif\n"
      ".if %c[rows] > 2\n"
      "vmladava.s8 %[s20], q0, q4\n"
      "vmladava.s8 %[s21], q1, q4\n"
      "strd %[s20], %[s21], [%[t]]\n"
      "add %[t], %[t], lr\n"
      ".endif\n"
      "str %[t], [%[columns], #20]\n"
      "ldr %[t], [%[columns], #16]\n"
      "add %[a0], %[a0], %[t]\n"
      "add %[a1], %[a1], %[t]\n"
      "add %[a2], %[a2], %[t]\n"
      "ldr %[t], [%[columns], #28]\n"
      "subs %[t], %[t], #1\n"
      "str %[t], [%[columns], #28]\n"
      "bne 0b\n"
      : [a0] "+r"(a0), [a1] "+r"(a1), [a2] "+r"(a2), [at] "=&w"(at), [s00] "=&Te"(s00),
        [s01] "=&Te"(s01), [s10] "=&Te"(s10), [s11] "=&Te"(s11), [s20] "=&Te"(s20),
        [s21] "=&Te"(s21), [t] "=&r"(t)
      : [words] "w"(words), [second] "w"(second), [columns] "r"(&columns), [rows] "i"(Rows)
      : "cc", "memory", "lr", "q0", "q1", "q2", "q3", "q4");
}

}  // namespace

void gemm_s32_n16k4_mve(const GemmArgs& all) {
  const GemmArgs args = all;  // a copy, which no store can change
  const int32_t correction = lhs_correction(args.lhs_type);
  const size_t first = (args.k - 1) % kBlock + 1, blocks = (args.k - first) / kBlock;
  // m = 3 threes + 2 twos, except that a single row is a tile of its own.
  const size_t one = args.m == 1 ? 1 : 0, twos = one != 0 ? 0 : (3 - args.m % 3) % 3;
  const size_t threes = (args.m - 2 * twos) / 3;
  for (size_t j = 0; j < args.n; j += kColumns) {
    Columns columns = {.start = {0, 0},
                       .first = first,
                       .blocks = blocks,
                       .next = 0,
                       .dst = args.dst + j,
                       .dst_stride = 4 * args.dst_stride,
                       .tiles = threes};
    for (size_t c = 0; c < kColumns; ++c) {
      if (args.bias != nullptr) columns.start[c] = args.bias[j + c];
      if (correction != 0) columns.start[c] += correction * args.sums[j + c];
    }
    const int8_t* rhs = args.rhs + n16k4_index(j, 0, args.k);
    if (threes > 0) tiles<3>(columns, args.lhs, args.lhs_stride, rhs);
    const uint8_t* lhs = args.lhs + 3 * threes * args.lhs_stride;
    columns.dst += 3 * threes * args.dst_stride;
    columns.tiles = twos + one;
    if (twos > 0) tiles<2>(columns, lhs, args.lhs_stride, rhs);
    if (one > 0) tiles<1>(columns, lhs, args.lhs_stride, rhs);
  }
}

}  // namespace embert
