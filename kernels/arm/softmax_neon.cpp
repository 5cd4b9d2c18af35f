// SPDX-License-Identifier: Apache-2.0
// Softmax of 16 keys. ADDHN gives (distance * multiplier + 2^21) >> 16 at once: scores beyond the
// cap are raised to the cap and multiplied by -multiplier, and ADDHN adds the part of the maximum.
// All of this is modulo 2^32; the true sum fits 32 bits. Its bits from 6 on are the exponent index,
// 64 n + f. RS(T[f], 7 + n) depends on T only through u = T / 2^6 - 256, which is a byte: it is
// RS(u + 256, n + 1), that is RS(u, n + 1) plus 2^(7 - n) or, for n = 8, 1. So a TBL each looks up
// u and the power, in which the flip is included, and URSHL and ADD do the rest in 8-bit lanes.
// 105 instructions for 64 keys, 22 for their maximum. 14 bits take a TBL for each byte of T
// and URSHL in 16-bit lanes.
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

// RS(256, n + 1) for n = 0..8, then 0, as bytes of the left operand.
struct Powers {
  uint8_t bytes[16];
  constexpr Powers() : bytes() {
    for (int n = 0; n < 16; ++n) {
      bytes[n] =
          static_cast<uint8_t>((n <= 8 ? (256 + (1 << n)) >> (n + 1) : 0) ^ kUnsignedLhsFlip);
    }
  }
};
constexpr Powers kPowers;

// As members of their own, because gcc 12 keeps the elements of an array in memory.
struct Tables {
  ByteTable first, last;  // of the planes
  uint8x16_t powers;
};
template <size_t kPlanes>
EMBERT_INLINE Tables load_tables() {
  return {load_table(kFractions<kPlanes>.bytes[0]),
          load_table(kFractions<kPlanes>.bytes[kPlanes - 1]), vld1q_u8(kPowers.bytes)};
}

struct Row {
  int32x4_t lowest;       // the lowest score that the cap leaves
  uint32x4_t multiplier;  // negative
  uint32x4_t base;        // the maximum's part of the sum
};

EMBERT_INLINE int32_t row_maximum(const int32_t* scores, size_t n) {
  int32x4_t highest[4];
#pragma GCC unroll 4
  for (int32x4_t& x : highest) x = vdupq_n_s32(scores[0]);
  size_t j = n / 64 * 64;
  for (const int32_t *p = scores, *end = scores + j; p != end;) {
    const int32x4x4_t a = next16(p), b = next16(p), c = next16(p), d = next16(p);
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
// 16 keys to 16 bytes of the left operand in each plane.
template <size_t kPlanes>
EMBERT_INLINE void key_block(const int32x4x4_t& x, const Row& row, const Tables& table,
                             uint8x16_t (&e)[kPlanes]) {
  const uint16x8_t s0 = vaddhn_high_u32(vaddhn_u32(product(x.val[0], row), row.base),
                                        product(x.val[1], row), row.base);
  const uint16x8_t s1 = vaddhn_high_u32(vaddhn_u32(product(x.val[2], row), row.base),
                                        product(x.val[3], row), row.base);
  const uint8x16_t f = vandq_u8(vshrn_high_n_u16(vshrn_n_u16(s0, 6), s1, 6), vdupq_n_u8(63));
  if (kPlanes == 1) {
    const uint8x16_t n =
        vshrq_n_u8(vuzp2q_u8(vreinterpretq_u8_u16(s0), vreinterpretq_u8_u16(s1)), 4);
    const int8x16_t count = vreinterpretq_s8_u8(vmvnq_u8(n));  // -(n + 1)
    e[0] = vaddq_u8(vrshlq_u8(look_up(table.first, f), count), vqtbl1q_u8(table.powers, n));
  } else {
    const uint8x16_t flip = vdupq_n_u8(kUnsignedLhsFlip);
    const uint8x16_t low = look_up(table.first, f);
    const uint8x16_t high = look_up(table.last, f);
    const uint8x16_t e0 = shift_down(vzip1q_u8(low, high), s0);
    const uint8x16_t e1 = shift_down(vzip2q_u8(low, high), s1);
    e[0] = veorq_u8(vuzp2q_u8(e0, e1), flip);
    e[kPlanes - 1] = veorq_u8(vuzp1q_u8(e0, e1), flip);
  }
}

// The bytes as signed values, which are 128 below the exponentials: sums of 8 pairs.
static_assert(kUnsignedLhsFlip == 0x80, "");
EMBERT_INLINE int16x8_t add_bytes(uint8x16_t e) { return vpaddlq_s8(vreinterpretq_s8_u8(e)); }
EMBERT_INLINE int16x8_t add_bytes(int16x8_t sums, uint8x16_t e) {
  return vpadalq_s8(sums, vreinterpretq_s8_u8(e));
}

template <size_t kPlanes>
struct Sums {
  int32x4_t plane[kPlanes];
};

// A row of scores, and of exponentials in planes that lie stride bytes apart.
struct Keys {
  const int32_t* scores;
  uint8_t* dst;
  size_t stride;
};

// The first n keys, a multiple of 64.
template <size_t kPlanes>
EMBERT_INLINE Sums<kPlanes> whole_blocks(Keys keys, size_t n, const Row& row,
                                         const Tables& tables) {
  Sums<kPlanes> sums;
#pragma GCC unroll 2
  for (int32x4_t& sum : sums.plane) sum = vdupq_n_s32(0);
  for (; n > 0; n -= 64, keys.dst += 64) {
    int16x8_t pairs[kPlanes];
#pragma GCC unroll 2
    for (size_t half = 0; half < 2; ++half) {
      uint8x16_t e[kPlanes], next[kPlanes];
      key_block(next16(keys.scores), row, tables, e);
      key_block(next16(keys.scores), row, tables, next);
#pragma GCC unroll 2
      for (size_t p = 0; p < kPlanes; ++p) {
        uint8_t* to = keys.dst + p * keys.stride + 32 * half;
        pairs[p] = add_bytes(half == 0 ? add_bytes(e[p]) : add_bytes(pairs[p], e[p]), next[p]);
        vst1q_u8(to, e[p]);
        vst1q_u8(to + 16, next[p]);
      }
    }
#pragma GCC unroll 2
    for (size_t p = 0; p < kPlanes; ++p) sums.plane[p] = vpadalq_s16(sums.plane[p], pairs[p]);
  }
  return sums;
}

template <size_t kPlanes>
void softmax(const SoftmaxArgs& all) {
  const SoftmaxArgs args = all;  // a copy, which no store can change
  const Tables tables = load_tables<kPlanes>();
  const uint32_t multiplier = args.score_multiplier;
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* scores = args.scores + i * args.scores_stride;
    uint8_t* dst = args.dst + kPlanes * i * args.dst_stride;
    const int32_t highest = row_maximum(scores, args.n);
    const int64_t lowest = int64_t{highest} - args.score_cap;
    const Row row = {vdupq_n_s32(sat32(lowest)), vdupq_n_u32(0u - multiplier),
                     vdupq_n_u32(static_cast<uint32_t>(highest) * multiplier + (1u << 21))};
    size_t j = args.n / 64 * 64;
    Sums<kPlanes> sums = whole_blocks<kPlanes>({scores, dst, args.dst_stride}, j, row, tables);
    for (; j < args.n; j += 16) {
      uint8x16_t e[kPlanes];
      key_block(vld1q_s32_x4(scores + j), row, tables, e);
      const size_t left = args.n - j;
#pragma GCC unroll 2
      for (size_t p = 0; p < kPlanes; ++p) {
        uint8_t* to = dst + p * args.dst_stride + j;
        if (left >= 16) {
          vst1q_u8(to, e[p]);
        } else {
          uint8_t bytes[16];
          memset(bytes, kUnsignedLhsFlip, sizeof(bytes));
          store_first(bytes, e[p], left);
          e[p] = vld1q_u8(bytes);
          store_first(to, e[p], pad_inputs(left));
        }
        sums.plane[p] = vpadalq_s16(sums.plane[p], add_bytes(e[p]));
      }
    }
    // j is the number of bytes in each sum.
    uint32_t sum = 0;
#pragma GCC unroll 2
    for (const int32x4_t& of_plane : sums.plane) {
      sum =
          256 * sum + vaddvq_u32(vreinterpretq_u32_s32(of_plane)) + 128 * static_cast<uint32_t>(j);
    }
    args.row[i] = reciprocal(sum);
  }
}

}  // namespace

void softmax_u8_s32_neon(const SoftmaxArgs& args) { softmax<1>(args); }
void softmax_u8x2_s32_neon(const SoftmaxArgs& args) { softmax<2>(args); }

}  // namespace embert
