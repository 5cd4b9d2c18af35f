// SPDX-License-Identifier: Apache-2.0
// SMLAD, two products of 16-bit halves and a sum, in tiles of 2 rows x 2 columns. SXTB16 takes the
// even bytes of a word apart and, with a rotation, the odd ones; 4 inputs of a column are one word
// of n16k4, the next column's lie beside it.
#if !defined(__ARM_FEATURE_DSP)
#error "this file needs a processor with DSP instructions (isa_flags.cmake)"
#endif
#include <arm_acle.h>
#include <string.h>

#include "kernels/variants.hpp"

namespace embert {
namespace {

constexpr size_t kColumns = 2;

struct Pairs {
  int16x2_t even, odd;
};
static inline Pairs split(const void* bytes) {
  uint32_t word;
  memcpy(&word, bytes, sizeof(word));
  Pairs pairs = {__sxtb16(word), 0};
  asm("sxtb16 %0, %1, ror #8" : "=r"(pairs.odd) : "r"(word));
  return pairs;
}
static inline int32_t multiply_add(Pairs a, Pairs b, int32_t sum) {
  return __smlad(a.odd, b.odd, __smlad(a.even, b.even, sum));
}

template <size_t Rows>
void tile(const GemmArgs& args, size_t i, size_t j, const int32_t (&start)[kColumns]) {
  const uint8_t* lhs = args.lhs + i * args.lhs_stride;
  const uint8_t* second = lhs + (Rows - 1) * args.lhs_stride;
  const uint8_t* end = lhs + args.k;
  const int8_t* rhs = args.rhs + n16k4_index(j, 0, args.k);
  int32_t s00 = start[0], s01 = start[1], s10 = s00, s11 = s01;
  for (; lhs != end; lhs += kStepInputs, second += kStepInputs) {
    const Pairs a = split(lhs), b = Rows > 1 ? split(second) : a;
    const Pairs x = split(rhs);
    s00 = multiply_add(a, x, s00);
    if (Rows > 1) s10 = multiply_add(b, x, s10);
    const Pairs y = split(rhs + kStepInputs);
    s01 = multiply_add(a, y, s01);
    if (Rows > 1) s11 = multiply_add(b, y, s11);
    rhs += kPanelColumns * kStepInputs;
  }
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
