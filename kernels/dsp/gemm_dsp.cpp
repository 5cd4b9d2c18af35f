// SPDX-License-Identifier: Apache-2.0
// SMLAD, two products of 16-bit halves and a sum, in tiles of 2 rows x 2 columns. SXTB16 separates
// the even bytes of a word and, with a rotation, the odd ones. 4 inputs of a column are one word of
// n16k4; those of the next column follow it. A step is 22 instructions for 16 multiply-adds (1.4
// each, also in whole products under QEMU): 4 loads, 8 SXTB16, 8 SMLAD and the loop. For a last
// row it is 15 instructions for 8 multiply-adds.
#if !defined(__ARM_FEATURE_DSP)
#error "this file needs a processor with DSP instructions (kernels/sources.cmake)"
#endif
#include "kernels/variants.hpp"

namespace embert {
namespace {

constexpr size_t kColumns = 2;

// In assembly, because gcc 12 spills, although 14 registers suffice.
template <size_t Rows>
void tile(const GemmArgs& args, size_t i, size_t j, const int32_t (&start)[kColumns]) {
  const uint8_t* lhs = args.lhs + i * args.lhs_stride;
  const uint8_t* second = lhs + (Rows - 1) * args.lhs_stride;
  const int8_t* rhs = args.rhs + n16k4_index(j, 0, args.k);
  size_t steps = args.k / kStepInputs;
  int32_t s00 = start[0], s01 = start[1], s10 = s00, s11 = s01;
  int32_t a_even, a_odd, b_even, b_odd, x_even, x_odd;
  asm volatile(
      "1:\n"
      "ldr %[a_even], [%[lhs]], #4\n"
      ".if %c[rows] > 1\n"
      "ldr %[b_even], [%[second]], #4\n"
      ".endif\n"
      "ldr %[x_even], [%[rhs]], #4\n"
      "sxtb16 %[a_odd], %[a_even], ror #8\n"
      "sxtb16 %[a_even], %[a_even]\n"
      ".if %c[rows] > 1\n"
      "sxtb16 %[b_odd], %[b_even], ror #8\n"
      "sxtb16 %[b_even], %[b_even]\n"
      ".endif\n"
      "sxtb16 %[x_odd], %[x_even], ror #8\n"
      "sxtb16 %[x_even], %[x_even]\n"
      "smlad %[s00], %[a_even], %[x_even], %[s00]\n"
      ".if %c[rows] > 1\n"
      "smlad %[s10], %[b_even], %[x_even], %[s10]\n"
      "smlad %[s10], %[b_odd], %[x_odd], %[s10]\n"
      ".endif\n"
      "ldr %[x_even], [%[rhs]], #60\n"
      "smlad %[s00], %[a_odd], %[x_odd], %[s00]\n"
      "subs %[steps], %[steps], #1\n"
      "sxtb16 %[x_odd], %[x_even], ror #8\n"
      "sxtb16 %[x_even], %[x_even]\n"
      "smlad %[s01], %[a_odd], %[x_odd], %[s01]\n"
      ".if %c[rows] > 1\n"
      "smlad %[s11], %[b_odd], %[x_odd], %[s11]\n"
      "smlad %[s11], %[b_even], %[x_even], %[s11]\n"
      ".endif\n"
      "smlad %[s01], %[a_even], %[x_even], %[s01]\n"
      "bne 1b\n"
      : [lhs] "+r"(lhs), [second] "+r"(second), [rhs] "+r"(rhs), [steps] "+r"(steps),
        [s00] "+r"(s00), [s01] "+r"(s01), [s10] "+r"(s10), [s11] "+r"(s11), [a_even] "=&r"(a_even),
        [a_odd] "=&r"(a_odd), [b_even] "=&r"(b_even), [b_odd] "=&r"(b_odd), [x_even] "=&r"(x_even),
        [x_odd] "=&r"(x_odd)
      : [rows] "i"(Rows)
      : "cc", "memory");
  int32_t* dst = args.dst + i * args.dst_stride + j;
  dst[0] = s00, dst[1] = s01;
  if (Rows > 1) dst += args.dst_stride, dst[0] = s10, dst[1] = s11;
}

}  // namespace

void gemm_s32_n16k4_dsp(const GemmArgs& all) {
  const GemmArgs args = all;  // a copy, which no store can change
  const int32_t correction = lhs_correction(args.lhs_type);
  for (size_t j = 0; j < args.n; j += kColumns) {
    int32_t start[kColumns] = {};
    for (size_t c = 0; c < kColumns; ++c) {
      if (args.bias != nullptr) start[c] = args.bias[j + c];
      if (correction != 0) start[c] += correction * args.sums[j + c];
    }
    size_t i = 0;
    for (; i + 2 <= args.m; i += 2) tile<2>(args, i, j, start);
    if (i < args.m) tile<1>(args, i, j, start);
  }
}

}  // namespace embert
