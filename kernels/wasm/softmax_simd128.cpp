// SPDX-License-Identifier: Apache-2.0
// Softmax of 16 keys. As in softmax_neon.cpp the table is one of bytes: RS(T[f], 7 + n) is RS(h, n)
// with h = (u + 256) / 2, rounded up for n = 0, and u = T[f] / 2^6 - 256. RS(h, n) is a rounding
// 16-bit product of 2 h and 2^(14 - n), whose bytes are looked up. The 14 bits are the same product
// of T, whose bytes are two tables.
#include "kernels/arithmetic/layout.hpp"
#include "kernels/variants.hpp"
#include "kernels/wasm/lanes_simd128.hpp"

namespace embert {
namespace {

// u of the 64 fractions, or with two planes the bytes of T, and those of 2^(14 - n); 0 for n = 15.
template <size_t kPlanes>
struct Bytes {
  uint8_t fractions[kPlanes][64], power_low[16], power_high[16];
  constexpr Bytes() : fractions(), power_low(), power_high() {
    for (int i = 0; i < 64; ++i) {
      const int t = kExpTable[i];
      fractions[0][i] = static_cast<uint8_t>(kPlanes == 1 ? (t >> 6) - 256 : t);
      if (kPlanes > 1) fractions[kPlanes - 1][i] = static_cast<uint8_t>(t >> 8);
    }
    for (int n = 0; n < 15; ++n) {
      const int power = 1 << (14 - n);
      power_low[n] = static_cast<uint8_t>(power & 0xff);
      power_high[n] = static_cast<uint8_t>(power >> 8);
    }
  }
};
template <size_t kPlanes>
constexpr Bytes<kPlanes> kBytes;

template <size_t kPlanes>
struct Tables {
  ByteTable fractions[kPlanes];
  v128_t power_low, power_high;
};
struct Row {
  v128_t lowest;      // the lowest score that the cap leaves
  v128_t multiplier;  // negative
  v128_t base;        // the maximum's part of the sum
};

EMBERT_INLINE int32_t row_maximum(const int32_t* scores, size_t n) {
  v128_t a = wasm_i32x4_splat(scores[0]), b = a;
  size_t j = 0;
  for (; j + 8 <= n; j += 8) {
    a = wasm_i32x4_max(a, load(scores + j));
    b = wasm_i32x4_max(b, load(scores + j + 4));
  }
  int32_t lane[4];
  store(lane, wasm_i32x4_max(a, b));
  int32_t highest = lane[0];
  for (const int32_t x : lane) highest = x > highest ? x : highest;
  for (; j < n; ++j) highest = scores[j] > highest ? scores[j] : highest;
  return highest;
}

// (distance * multiplier + 2^21) >> 16 of 4 keys; all but the shift is modulo 2^32, which holds it.
EMBERT_INLINE v128_t scaled(const int32_t* scores, const Row& row) {
  const v128_t product = wasm_i32x4_mul(wasm_i32x4_max(load(scores), row.lowest), row.multiplier);
  return wasm_u32x4_shr(wasm_i32x4_add(product, row.base), 16);
}
// 16 keys to 16 bytes in each plane.
template <size_t kPlanes>
EMBERT_INLINE void key_block(const int32_t* scores, const Row& row, const Tables<kPlanes>& t,
                             v128_t (&e)[kPlanes]) {
  const v128_t s0 = wasm_u16x8_narrow_i32x4(scaled(scores, row), scaled(scores + 4, row));
  const v128_t s1 = wasm_u16x8_narrow_i32x4(scaled(scores + 8, row), scaled(scores + 12, row));
  const v128_t fraction = wasm_i16x8_splat(63), byte = wasm_i16x8_splat(255);
  const v128_t f = wasm_u8x16_narrow_i16x8(wasm_v128_and(wasm_u16x8_shr(s0, 6), fraction),
                                           wasm_v128_and(wasm_u16x8_shr(s1, 6), fraction));
  const v128_t n = wasm_u8x16_narrow_i16x8(wasm_u16x8_shr(s0, 12), wasm_u16x8_shr(s1, 12));
  const v128_t low = wasm_i8x16_swizzle(t.power_low, n);
  const v128_t high = wasm_i8x16_swizzle(t.power_high, n);
  const v128_t found = look_up(t.fractions[0], f);
  v128_t t0, t1;
  if (kPlanes == 1) {
    const v128_t is_zero = wasm_i8x16_eq(n, wasm_i8x16_splat(0));
    const v128_t u = wasm_i8x16_sub(found, is_zero);  // one more for n = 0
    const v128_t h = wasm_u8x16_avgr(u, wasm_u8x16_splat(255));
    t0 = wasm_i16x8_shl(wasm_u16x8_extend_low_u8x16(h), 1);
    t1 = wasm_i16x8_shl(wasm_u16x8_extend_high_u8x16(h), 1);
  } else {
    const v128_t upper = look_up(t.fractions[kPlanes - 1], f);
    t0 = zip_low(found, upper);
    t1 = zip_high(found, upper);
  }
  const v128_t e0 = wasm_i16x8_q15mulr_sat(t0, zip_low(low, high));
  const v128_t e1 = wasm_i16x8_q15mulr_sat(t1, zip_high(low, high));
  if (kPlanes == 1) {
    e[0] = wasm_u8x16_narrow_i16x8(e0, e1);
  } else {
    e[0] = wasm_u8x16_narrow_i16x8(wasm_u16x8_shr(e0, 8), wasm_u16x8_shr(e1, 8));
    e[kPlanes - 1] = wasm_u8x16_narrow_i16x8(wasm_v128_and(e0, byte), wasm_v128_and(e1, byte));
  }
}

EMBERT_INLINE v128_t add_bytes(v128_t sums, v128_t e) {
  return wasm_i32x4_add(sums,
                        wasm_u32x4_extadd_pairwise_u16x8(wasm_u16x8_extadd_pairwise_u8x16(e)));
}

template <size_t kPlanes>
void softmax(const SoftmaxArgs& all) {
  const SoftmaxArgs args = all;  // a copy, which no store can change
  const Bytes<kPlanes>& bytes = kBytes<kPlanes>;
  Tables<kPlanes> tables;
  for (size_t p = 0; p < kPlanes; ++p) tables.fractions[p] = load_table(bytes.fractions[p]);
  tables.power_low = load(bytes.power_low);
  tables.power_high = load(bytes.power_high);
  const v128_t flip = wasm_u8x16_splat(kUnsignedLhsFlip);
  const uint32_t multiplier = args.score_multiplier;
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* scores = args.scores + i * args.scores_stride;
    uint8_t* dst = args.dst + kPlanes * i * args.dst_stride;
    const int32_t highest = row_maximum(scores, args.n);
    const Row row = {wasm_i32x4_splat(sat32(int64_t{highest} - args.score_cap)),
                     wasm_u32x4_splat(0u - multiplier),
                     wasm_u32x4_splat(static_cast<uint32_t>(highest) * multiplier + (1u << 21))};
    v128_t sums[kPlanes], e[kPlanes];
    for (v128_t& sum : sums) sum = wasm_i32x4_splat(0);
    size_t j = 0;
    for (; j + 16 <= args.n; j += 16) {
      key_block(scores + j, row, tables, e);
      for (size_t p = 0; p < kPlanes; ++p) {
        sums[p] = add_bytes(sums[p], e[p]);
        store(dst + p * args.dst_stride + j, wasm_v128_xor(e[p], flip));
      }
    }
    if (j < args.n) {
      const size_t left = args.n - j;
      key_block(scores + j, row, tables, e);
      for (size_t p = 0; p < kPlanes; ++p) {
        uint8_t first[16] = {};
        store_first(first, e[p], left);
        const v128_t kept = load(first);
        sums[p] = add_bytes(sums[p], kept);
        store_first(dst + p * args.dst_stride + j, wasm_v128_xor(kept, flip), pad_inputs(left));
      }
    }
    int32_t sum = 0;
    for (const v128_t& of_plane : sums) sum = 256 * sum + sum_of_lanes(of_plane);
    args.row[i] = reciprocal(static_cast<uint32_t>(sum));
  }
}

}  // namespace

void softmax_u8_s32_simd128(const SoftmaxArgs& args) { softmax<1>(args); }
void softmax_u8x2_s32_simd128(const SoftmaxArgs& args) { softmax<2>(args); }

}  // namespace embert
