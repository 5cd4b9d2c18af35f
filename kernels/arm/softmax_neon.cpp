// SPDX-License-Identifier: Apache-2.0
// Softmax of 16 keys. ADDHN gives (distance * multiplier + 2^21) >> 16 at once: scores beyond the
// cap are raised to the cap and multiplied by -multiplier, and ADDHN adds the part of the maximum.
// All of this is modulo 2^32; the true sum fits 32 bits. Its bits from 6 on are the exponent index,
// 64 n + f. RS(T[f], 7 + n) depends on T only through u = T / 2^6 - 256, which is a byte: it is
// RS(u + 256, n + 1), that is (u + 257) / 2 for n = 0 and RS((u + 256) / 2, n) otherwise. So the
// table is one TBL, and URHADD and URSHL do the rest in 8-bit lanes. About 56 instructions for 32
// keys, 13 for their maximum.
#include "kernels/arithmetic/layout.hpp"
#include "kernels/arm/lanes_neon.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

// u of the 64 fractions.
struct Fractions {
  uint8_t u[64];
  constexpr Fractions() : u() {
    for (int i = 0; i < 64; ++i) u[i] = static_cast<uint8_t>((kExpTable[i] >> 6) - 256);
  }
};
constexpr Fractions kFractions;

struct Row {
  int32x4_t lowest;       // the lowest score that the cap leaves
  uint32x4_t multiplier;  // negative
  uint32x4_t base;        // the maximum's part of the sum
};

EMBERT_INLINE int32_t row_maximum(const int32_t* scores, size_t n) {
  int32x4_t highest[4];
  for (int32x4_t& x : highest) x = vdupq_n_s32(scores[0]);
  size_t j = 0;
  for (; j + 64 <= n; j += 64) {
    const int32x4x4_t a = vld1q_s32_x4(scores + j), b = vld1q_s32_x4(scores + j + 16),
                      c = vld1q_s32_x4(scores + j + 32), d = vld1q_s32_x4(scores + j + 48);
#pragma GCC unroll 4
    for (size_t v = 0; v < 4; ++v) {
      const int32x4_t first = vmaxq_s32(highest[v], vmaxq_s32(a.val[v], b.val[v]));
      highest[v] = vmaxq_s32(first, vmaxq_s32(c.val[v], d.val[v]));
    }
  }
  for (; j + 4 <= n; j += 4) highest[0] = vmaxq_s32(highest[0], vld1q_s32(scores + j));
  int32_t result =
      vmaxvq_s32(vmaxq_s32(vmaxq_s32(highest[0], highest[1]), vmaxq_s32(highest[2], highest[3])));
  for (; j < n; ++j) result = scores[j] > result ? scores[j] : result;
  return result;
}

EMBERT_INLINE uint32x4_t product(int32x4_t score, const Row& row) {
  return vmulq_u32(vreinterpretq_u32_s32(vmaxq_s32(score, row.lowest)), row.multiplier);
}
// 16 keys to 16 bytes.
EMBERT_INLINE uint8x16_t key_block(const int32_t* scores, const Row& row, const ByteTable& table) {
  const int32x4x4_t x = vld1q_s32_x4(scores);
  const uint16x8_t s0 = vaddhn_high_u32(vaddhn_u32(product(x.val[0], row), row.base),
                                        product(x.val[1], row), row.base);
  const uint16x8_t s1 = vaddhn_high_u32(vaddhn_u32(product(x.val[2], row), row.base),
                                        product(x.val[3], row), row.base);
  const uint8x16_t f = vandq_u8(vshrn_high_n_u16(vshrn_n_u16(s0, 6), s1, 6), vdupq_n_u8(63));
  const uint8x16_t n = vshrq_n_u8(vuzp2q_u8(vreinterpretq_u8_u16(s0), vreinterpretq_u8_u16(s1)), 4);
  const uint8x16_t u = vsubq_u8(look_up(table, f), vceqzq_u8(n));  // one more for n = 0
  return vrshlq_u8(vrhaddq_u8(u, vdupq_n_u8(255)), vnegq_s8(vreinterpretq_s8_u8(n)));
}

}  // namespace

void softmax_u8_s32_neon(const SoftmaxArgs& all) {
  const SoftmaxArgs args = all;  // a copy, which no store can change
  const ByteTable table = load_table(kFractions.u);
  const uint8x16_t flip = vdupq_n_u8(kUnsignedLhsFlip);
  const uint32_t multiplier = args.score_multiplier;
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* scores = args.scores + i * args.scores_stride;
    uint8_t* dst = args.dst + i * args.dst_stride;
    const int32_t highest = row_maximum(scores, args.n);
    const int64_t lowest = int64_t{highest} - args.score_cap;
    const Row row = {vdupq_n_s32(sat32(lowest)), vdupq_n_u32(0u - multiplier),
                     vdupq_n_u32(static_cast<uint32_t>(highest) * multiplier + (1u << 21))};
    uint32x4_t sums = vdupq_n_u32(0);
    size_t j = 0;
    for (; j + 32 <= args.n; j += 32) {
      const uint8x16_t e = key_block(scores + j, row, table);
      const uint8x16_t next = key_block(scores + j + 16, row, table);
      sums = vpadalq_u16(sums, vpadalq_u8(vpaddlq_u8(e), next));
      vst1q_u8(dst + j, veorq_u8(e, flip));
      vst1q_u8(dst + j + 16, veorq_u8(next, flip));
    }
    for (; j + 16 <= args.n; j += 16) {
      const uint8x16_t e = key_block(scores + j, row, table);
      sums = vpadalq_u16(sums, vpaddlq_u8(e));
      vst1q_u8(dst + j, veorq_u8(e, flip));
    }
    if (j < args.n) {
      const size_t left = args.n - j;
      uint8_t bytes[16] = {};
      store_first(bytes, key_block(scores + j, row, table), left);
      const uint8x16_t e = vld1q_u8(bytes);
      sums = vpadalq_u16(sums, vpaddlq_u8(e));
      store_first(dst + j, veorq_u8(e, flip), pad_inputs(left));
    }
    args.row[i] = reciprocal(vaddvq_u32(sums));
  }
}

}  // namespace embert
