// SPDX-License-Identifier: Apache-2.0
// Softmax of 16 keys. ADDHN gives (distance * multiplier + 2^21) >> 16 at once: scores beyond the
// cap are raised to the cap and multiplied by -multiplier, and ADDHN adds the part of the maximum.
// All of this is modulo 2^32; the true sum fits 32 bits. Its bits from 6 on are the exponent index,
// 64 n + f. RS(T[f], 7 + n) depends on T only through u = T / 2^6 - 256, which is a byte: it is
// RS(u + 256, n + 1), that is (u + 257) / 2 for n = 0 and RS((u + 256) / 2, n) otherwise. So the
// table is one TBL, and URHADD and URSHL do the rest in 8-bit lanes. About 56 instructions for 32
// keys, 13 for their maximum. 14 bits take a TBL for each byte of T and URSHL in 16-bit lanes.
#include "kernels/arithmetic/layout.hpp"
#include "kernels/arm/lanes_neon.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

// The tables of the 64 fractions: u, or with two planes the bytes of T.
template <size_t kPlanes>
struct Fractions {
  uint8_t bytes[kPlanes][64];
  constexpr Fractions() : bytes() {
    for (int i = 0; i < 64; ++i) {
      bytes[0][i] = static_cast<uint8_t>(kPlanes == 1 ? (kExpTable[i] >> 6) - 256 : kExpTable[i]);
      if (kPlanes > 1) bytes[kPlanes - 1][i] = static_cast<uint8_t>(kExpTable[i] >> 8);
    }
  }
};
template <size_t kPlanes>
constexpr Fractions<kPlanes> kFractions;

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
// RS(T, n + 1) of 8 keys; -(n + 1) is the complement of n.
EMBERT_INLINE uint8x16_t shift_down(uint8x16_t t, uint16x8_t s) {
  const int16x8_t count = vreinterpretq_s16_u16(vmvnq_u16(vshrq_n_u16(s, 12)));
  return vreinterpretq_u8_u16(vrshlq_u16(vreinterpretq_u16_u8(t), count));
}
// 16 keys to 16 bytes in each plane.
template <size_t kPlanes>
EMBERT_INLINE void key_block(const int32_t* scores, const Row& row,
                             const ByteTable (&table)[kPlanes], uint8x16_t (&e)[kPlanes]) {
  const int32x4x4_t x = vld1q_s32_x4(scores);
  const uint16x8_t s0 = vaddhn_high_u32(vaddhn_u32(product(x.val[0], row), row.base),
                                        product(x.val[1], row), row.base);
  const uint16x8_t s1 = vaddhn_high_u32(vaddhn_u32(product(x.val[2], row), row.base),
                                        product(x.val[3], row), row.base);
  const uint8x16_t f = vandq_u8(vshrn_high_n_u16(vshrn_n_u16(s0, 6), s1, 6), vdupq_n_u8(63));
  if (kPlanes == 1) {
    const uint8x16_t n =
        vshrq_n_u8(vuzp2q_u8(vreinterpretq_u8_u16(s0), vreinterpretq_u8_u16(s1)), 4);
    const uint8x16_t u = vsubq_u8(look_up(table[0], f), vceqzq_u8(n));  // one more for n = 0
    e[0] = vrshlq_u8(vrhaddq_u8(u, vdupq_n_u8(255)), vnegq_s8(vreinterpretq_s8_u8(n)));
  } else {
    const uint8x16_t low = look_up(table[0], f), high = look_up(table[kPlanes - 1], f);
    const uint8x16_t e0 = shift_down(vzip1q_u8(low, high), s0);
    const uint8x16_t e1 = shift_down(vzip2q_u8(low, high), s1);
    e[0] = vuzp2q_u8(e0, e1);
    e[kPlanes - 1] = vuzp1q_u8(e0, e1);
  }
}

template <size_t kPlanes>
void softmax(const SoftmaxArgs& all) {
  const SoftmaxArgs args = all;  // a copy, which no store can change
  ByteTable table[kPlanes];
#pragma GCC unroll 2
  for (size_t p = 0; p < kPlanes; ++p) table[p] = load_table(kFractions<kPlanes>.bytes[p]);
  const uint8x16_t flip = vdupq_n_u8(kUnsignedLhsFlip);
  const uint32_t multiplier = args.score_multiplier;
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* scores = args.scores + i * args.scores_stride;
    uint8_t* dst = args.dst + kPlanes * i * args.dst_stride;
    const int32_t highest = row_maximum(scores, args.n);
    const int64_t lowest = int64_t{highest} - args.score_cap;
    const Row row = {vdupq_n_s32(sat32(lowest)), vdupq_n_u32(0u - multiplier),
                     vdupq_n_u32(static_cast<uint32_t>(highest) * multiplier + (1u << 21))};
    uint32x4_t sums[kPlanes];
#pragma GCC unroll 2
    for (uint32x4_t& sum : sums) sum = vdupq_n_u32(0);
    uint8x16_t e[kPlanes], next[kPlanes];
    size_t j = 0;
    for (; j + 32 <= args.n; j += 32) {
      key_block(scores + j, row, table, e);
      key_block(scores + j + 16, row, table, next);
#pragma GCC unroll 2
      for (size_t p = 0; p < kPlanes; ++p) {
        uint8_t* to = dst + p * args.dst_stride + j;
        sums[p] = vpadalq_u16(sums[p], vpadalq_u8(vpaddlq_u8(e[p]), next[p]));
        vst1q_u8(to, veorq_u8(e[p], flip));
        vst1q_u8(to + 16, veorq_u8(next[p], flip));
      }
    }
    for (; j + 16 <= args.n; j += 16) {
      key_block(scores + j, row, table, e);
#pragma GCC unroll 2
      for (size_t p = 0; p < kPlanes; ++p) {
        sums[p] = vpadalq_u16(sums[p], vpaddlq_u8(e[p]));
        vst1q_u8(dst + p * args.dst_stride + j, veorq_u8(e[p], flip));
      }
    }
    if (j < args.n) {
      const size_t left = args.n - j;
      key_block(scores + j, row, table, e);
#pragma GCC unroll 2
      for (size_t p = 0; p < kPlanes; ++p) {
        uint8_t bytes[16] = {};
        store_first(bytes, e[p], left);
        const uint8x16_t kept = vld1q_u8(bytes);
        sums[p] = vpadalq_u16(sums[p], vpaddlq_u8(kept));
        store_first(dst + p * args.dst_stride + j, veorq_u8(kept, flip), pad_inputs(left));
      }
    }
    uint32_t sum = 0;
#pragma GCC unroll 2
    for (const uint32x4_t& of_plane : sums) sum = 256 * sum + vaddvq_u32(of_plane);
    args.row[i] = reciprocal(sum);
  }
}

}  // namespace

void softmax_u8_s32_neon(const SoftmaxArgs& args) { softmax<1>(args); }
void softmax_u8x2_s32_neon(const SoftmaxArgs& args) { softmax<2>(args); }

}  // namespace embert
