// SPDX-License-Identifier: Apache-2.0
// VMLADAVA, a dot product of 16 bytes into a general register, in tiles of 3 rows x 2 columns. 16
// inputs of one column are 4 words of n16k4, 64 bytes apart: one gather. So Helium needs no layout
// of its own. A step of 16 inputs is 6 VMLADAVA for 96 multiply-adds, 2 gathers and 3 loads, 11
// instructions (0.115 a multiply-add); the loop end costs nothing after its first turn.
// llvm-mca's model of cortex-m55: 12.0 cycles, 8 multiply-adds a cycle, which is the peak, and the
// same 12.0 with plain loads of a layout with a column's inputs side by side. If a core needs a
// cycle for each gathered word instead, loads bound the step at 14 cycles (6.9 a cycle). Tiles of
// 2 rows reach 8.0 and of 1 row 2.9 in the model, where 7 in 8 cycles are waits for gathers.
// VMLADAVA takes even registers only, so 7 sums are the most beside a loop counter.
#include "kernels/helium/lanes_mve.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

constexpr size_t kColumns = 2;
constexpr size_t kBlock = 16;  // inputs

// Inputs in blocks of 16: the first holds what does not fill one (or 16), so that only its loads
// have a predicate. The loop multiplies one block while it loads the next; q0, q1 columns, q2-q4
// rows. In assembly, because gcc 12 neither keeps that order nor the sums in even registers.
template <size_t Rows>
EMBERT_INLINE void tile(const GemmArgs& args, size_t i, size_t j,
                        const int32_t (&start)[kColumns]) {
  const size_t last = Rows - 1;
  const uint8_t* a0 = args.lhs + i * args.lhs_stride;
  const uint8_t* a1 = a0 + (last > 0 ? args.lhs_stride : 0);
  const uint8_t* a2 = a0 + last * args.lhs_stride;
  size_t first = (args.k - 1) % kBlock + 1;
  const size_t blocks = (args.k - first) / kBlock;
  const uint32_t rhs =
      static_cast<uint32_t>(reinterpret_cast<uintptr_t>(args.rhs + n16k4_index(j, 0, args.k)));
  uint32x4_t words = vaddq_n_u32(vshlq_n_u32(vidupq_n_u32(0, 1), 6), rhs);
  int32_t s00 = start[0], s01 = start[1], s10 = s00, s11 = s01, s20 = s00, s21 = s01;
  asm volatile(
      "vctp.8 %[first]\n"
      "vpstttt\n"
      "vldrwt.u32 q0, [%q[words]]\n"
      "vldrwt.u32 q1, [%q[words], #4]\n"
      "vldrbt.u8 q2, [%[a0]]\n"
      "vldrbt.u8 q3, [%[a1]]\n"
      "vpst\n"
      "vldrbt.u8 q4, [%[a2]]\n"
      "add %[a0], %[a0], %[first]\n"
      "add %[a1], %[a1], %[first]\n"
      "add %[a2], %[a2], %[first]\n"
      "lsl %[first], %[first], #4\n"
      "sub %[first], %[first], #256\n"
      "vadd.i32 %q[words], %q[words], %[first]\n"  // the loop advances before it loads
      "vmladava.s8 %[s00], q0, q2\n"
      "wls lr, %[blocks], 2f\n"
      "1:\n"
      ".if %c[rows] > 1\n"
      "vmladava.s8 %[s10], q0, q3\n"
      ".endif\n"
      ".if %c[rows] > 2\n"
      "vmladava.s8 %[s20], q0, q4\n"
      ".endif\n"
      "vldrw.u32 q0, [%q[words], #256]!\n"
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
      "vldrw.u32 q1, [%q[words], #4]\n"
      "le lr, 1b\n"
      "2:\n"
      "vmladava.s8 %[s01], q1, q2\n"
      ".if %c[rows] > 1\n"
      "vmladava.s8 %[s10], q0, q3\n"
      "vmladava.s8 %[s11], q1, q3\n"
      ".endif\n"
      ".if %c[rows] > 2\n"
      "vmladava.s8 %[s20], q0, q4\n"
      "vmladava.s8 %[s21], q1, q4\n"
      ".endif\n"
      : [a0] "+r"(a0), [a1] "+r"(a1), [a2] "+r"(a2), [first] "+r"(first), [words] "+w"(words),
        [s00] "+Te"(s00), [s01] "+Te"(s01), [s10] "+Te"(s10), [s11] "+Te"(s11), [s20] "+Te"(s20),
        [s21] "+Te"(s21)
      : [blocks] "r"(blocks), [rows] "i"(Rows)
      : "cc", "memory", "lr", "p0", "q0", "q1", "q2", "q3", "q4");
  int32_t* dst = args.dst + i * args.dst_stride + j;
  dst[0] = s00, dst[1] = s01;
  if (Rows > 1) dst += args.dst_stride, dst[0] = s10, dst[1] = s11;
  if (Rows > 2) dst += args.dst_stride, dst[0] = s20, dst[1] = s21;
}

}  // namespace

void gemm_s32_n16k4_mve(const GemmArgs& all) {
  const GemmArgs args = all;  // a copy, which no store can change
  const int32_t correction = lhs_correction(args.lhs_type);
  for (size_t j = 0; j < args.n; j += kColumns) {
    int32_t start[kColumns] = {};
    for (size_t c = 0; c < kColumns; ++c) {
      if (args.bias != nullptr) start[c] = args.bias[j + c];
      if (correction != 0) start[c] += correction * args.sums[j + c];
    }
    size_t i = 0;
    for (; i + 3 <= args.m; i += 3) tile<3>(args, i, j, start);
    if (i + 2 == args.m) tile<2>(args, i, j, start);
    if (i + 1 == args.m) tile<1>(args, i, j, start);
  }
}

}  // namespace embert
