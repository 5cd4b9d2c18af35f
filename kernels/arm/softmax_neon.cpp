// SPDX-License-Identifier: Apache-2.0
// Softmax on 16 keys. ADDHN gives (distance * multiplier + 2^21) >> 16 at once: scores below the
// cap are raised to it and multiplied by -multiplier, to which the maximum's part is added; all
// modulo 2^32, where the true sum lies. Bits 6 and up of it are the exponent index: the table of 64
// fractions is looked up bytewise with TBL, and URSHL by each lane's count is the rounding shift,
// which leaves 0 from 9 on as the law has it. About 40 instructions for 16 keys.
#include "kernels/arm/lanes_neon.hpp"
#include "kernels/layout.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

struct Table {
  uint8x16x4_t low, high;
};
Table load_table() {
  uint8_t bytes[2][64];
  for (size_t i = 0; i < 64; ++i) {
    bytes[0][i] = static_cast<uint8_t>(kExpTable[i] & 0xff);
    bytes[1][i] = static_cast<uint8_t>(kExpTable[i] >> 8);
  }
  return {vld1q_u8_x4(bytes[0]), vld1q_u8_x4(bytes[1])};
}

struct Row {
  int32x4_t lowest;       // of the scores that count
  uint32x4_t multiplier;  // negative
  uint32x4_t base;        // of the maximum
};

EMBERT_INLINE int32_t row_maximum(const int32_t* scores, size_t n) {
  int32x4_t highest[4];
  for (int32x4_t& x : highest) x = vdupq_n_s32(scores[0]);
  size_t j = 0;
  for (; j + 16 <= n; j += 16) {
    const int32x4x4_t x = vld1q_s32_x4(scores + j);
#pragma GCC unroll 4
    for (size_t v = 0; v < 4; ++v) highest[v] = vmaxq_s32(highest[v], x.val[v]);
  }
  int32_t result =
      vmaxvq_s32(vmaxq_s32(vmaxq_s32(highest[0], highest[1]), vmaxq_s32(highest[2], highest[3])));
  for (; j < n; ++j) result = scores[j] > result ? scores[j] : result;
  return result;
}

EMBERT_INLINE uint32x4_t product(int32x4_t score, const Row& row) {
  return vmulq_u32(vreinterpretq_u32_s32(vmaxq_s32(score, row.lowest)), row.multiplier);
}
EMBERT_INLINE uint16x8_t shifted(uint16x8_t fraction, uint16x8_t index) {
  const int16x8_t n = vreinterpretq_s16_u16(vshrq_n_u16(index, 12));
  return vrshlq_u16(fraction, vsubq_s16(vdupq_n_s16(-7), n));
}

// 16 keys to 16 bytes.
EMBERT_INLINE uint8x16_t key_block(const int32_t* scores, const Row& row, const Table& t) {
  const int32x4x4_t x = vld1q_s32_x4(scores);
  const uint16x8_t s0 = vaddhn_high_u32(vaddhn_u32(product(x.val[0], row), row.base),
                                        product(x.val[1], row), row.base);
  const uint16x8_t s1 = vaddhn_high_u32(vaddhn_u32(product(x.val[2], row), row.base),
                                        product(x.val[3], row), row.base);
  const uint8x16_t i = vandq_u8(vshrn_high_n_u16(vshrn_n_u16(s0, 6), s1, 6), vdupq_n_u8(63));
  const uint8x16_t low = vqtbl4q_u8(t.low, i), high = vqtbl4q_u8(t.high, i);
  const uint16x8_t e0 = shifted(vreinterpretq_u16_u8(vzip1q_u8(low, high)), s0);
  const uint16x8_t e1 = shifted(vreinterpretq_u16_u8(vzip2q_u8(low, high)), s1);
  return vuzp1q_u8(vreinterpretq_u8_u16(e0), vreinterpretq_u8_u16(e1));
}

}  // namespace

void softmax_u8_s32_neon(const SoftmaxArgs& all) {
  const SoftmaxArgs args = all;  // a copy, which no store can change
  const Table table = load_table();
  const uint8x16_t flip = vdupq_n_u8(kUnsignedLhsFlip);
  const uint32_t multiplier = args.score_multiplier;
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* scores = args.scores + i * args.scores_stride;
    uint8_t* dst = args.dst + i * args.dst_stride;
    const int32_t highest = row_maximum(scores, args.n);
    const int64_t lowest = int64_t{highest} - args.distance_cap;
    const Row row = {vdupq_n_s32(sat32(lowest)), vdupq_n_u32(0u - multiplier),
                     vdupq_n_u32(static_cast<uint32_t>(highest) * multiplier + (1u << 21))};
    uint32x4_t sums = vdupq_n_u32(0);
    size_t j = 0;
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
