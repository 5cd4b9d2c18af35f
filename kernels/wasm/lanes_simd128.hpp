// SPDX-License-Identifier: Apache-2.0
// Shared by the operations: 4 lanes of 32 bits. requantize() of fixed_point.hpp takes two products
// in 64 bits, one addition and one shift; lanes_avx512.hpp explains why that is exact. For right
// shifts the result lies in the upper halves of the 64-bit sums, and a 32-bit shift finishes it.
#pragma once

#if !defined(__wasm_simd128__)
#error "this file needs the flags of simd128 (toolchains/wasm/wasm32.cmake)"
#endif
#include <string.h>
#include <wasm_simd128.h>

#include "kernels/arithmetic/fixed_point.hpp"

namespace embert {
namespace {

#define EMBERT_INLINE static inline __attribute__((always_inline))

EMBERT_INLINE v128_t load(const void* p) { return wasm_v128_load(p); }
EMBERT_INLINE void store(void* p, v128_t x) { wasm_v128_store(p, x); }

/// Stores the first bytes of x: for tails.
EMBERT_INLINE void store_first(void* dst, v128_t x, size_t bytes) {
  uint8_t copy[16];
  store(copy, x);
  memcpy(dst, copy, bytes);
}

/// The upper or lower halves of four 64-bit lanes.
EMBERT_INLINE v128_t upper_halves(v128_t low, v128_t high) {
  return wasm_i32x4_shuffle(low, high, 1, 3, 5, 7);
}
EMBERT_INLINE v128_t lower_halves(v128_t low, v128_t high) {
  return wasm_i32x4_shuffle(low, high, 0, 2, 4, 6);
}

/// (x * m + round) >> 32, in 64 bits.
EMBERT_INLINE v128_t multiply_upper(v128_t x, v128_t m, v128_t round) {
  return upper_halves(wasm_i64x2_add(wasm_i64x2_extmul_low_i32x4(x, m), round),
                      wasm_i64x2_add(wasm_i64x2_extmul_high_i32x4(x, m), round));
}
/// The lower 32 bits of (x * m + round) >> count, in 64 bits; count in 0..32.
EMBERT_INLINE v128_t multiply_shift(v128_t x, v128_t m, v128_t round, uint32_t count) {
  const v128_t low = wasm_i64x2_add(wasm_i64x2_extmul_low_i32x4(x, m), round);
  const v128_t high = wasm_i64x2_add(wasm_i64x2_extmul_high_i32x4(x, m), round);
  return lower_halves(wasm_u64x2_shr(low, count), wasm_u64x2_shr(high, count));
}

/// The constants of one pair of shifts.
struct Shifts {
  v128_t round;            // 64-bit lanes
  v128_t lowest, highest;  // of x
  uint32_t count;          // right: of the upper halves; left: of the 64-bit sums
};
template <bool kRight>
EMBERT_INLINE Shifts make_shifts(int32_t left, int32_t right) {
  const int64_t half = int64_t{1} << (30 - left);
  return {wasm_i64x2_splat(kRight ? half + (int64_t{1} << (30 + right)) : half),
          wasm_i32x4_splat(INT32_MIN / (1 << left)),
          wasm_i32x4_splat(left == 0 ? INT32_MAX : 1 << (31 - left)),
          static_cast<uint32_t>(kRight ? right - 1 : 31 - left)};
}

/// requantize() for a caller that clamps the result to less than 2^30 - 1; see lanes_avx512.hpp.
template <bool kRight>
EMBERT_INLINE v128_t requantize(v128_t x, v128_t m, const Shifts& s) {
  if (kRight) return wasm_i32x4_shr(multiply_upper(x, m, s.round), s.count);
  x = wasm_i32x4_max(wasm_i32x4_min(x, s.highest), s.lowest);
  return multiply_shift(x, m, s.round, s.count);
}

/// The numbers of 16 columns, 32 bits each.
struct Columns16 {
  v128_t part[4];
};
EMBERT_INLINE Columns16 load16(const int32_t* p) {
  return {{load(p), load(p + 4), load(p + 8), load(p + 12)}};
}
/// The values of 16 columns, 16 bits each.
struct Words16 {
  v128_t part[2];
};

/// requantize() of 16 columns, saturated to 16 bits.
template <bool kRight>
EMBERT_INLINE Words16 requantize16(const int32_t* acc, const Columns16& m, const Shifts& s) {
  return {{wasm_i16x8_narrow_i32x4(requantize<kRight>(load(acc), m.part[0], s),
                                   requantize<kRight>(load(acc + 4), m.part[1], s)),
           wasm_i16x8_narrow_i32x4(requantize<kRight>(load(acc + 8), m.part[2], s),
                                   requantize<kRight>(load(acc + 12), m.part[3], s))}};
}
EMBERT_INLINE Words16 max16(const Words16& x, int16_t lowest) {
  const v128_t bound = wasm_i16x8_splat(lowest);
  return {{wasm_i16x8_max(x.part[0], bound), wasm_i16x8_max(x.part[1], bound)}};
}
/// 16 values to bytes in +-127.
EMBERT_INLINE v128_t to_bytes(const Words16& x) {
  return wasm_i8x16_max(wasm_i8x16_narrow_i16x8(x.part[0], x.part[1]), wasm_i8x16_splat(-127));
}

// Tails are functions of their own, because a page loads every copy of an inlined one.
[[maybe_unused, gnu::noinline]] static void store_tail(void* dst, const Words16& x, size_t count) {
  memcpy(dst, &x, count * sizeof(int16_t));
}
[[maybe_unused, gnu::noinline]] static Words16 load_tail(const void* src, size_t count) {
  Words16 x = {};
  memcpy(&x, src, count * sizeof(int16_t));
  return x;
}

/// The first count of 16 values; all if count is larger.
EMBERT_INLINE void store_words(void* dst, const Words16& x, size_t count) {
  if (count < 16) return store_tail(dst, x, count);
  store(dst, x.part[0]);
  store(static_cast<uint8_t*>(dst) + 16, x.part[1]);
}
EMBERT_INLINE Words16 load_words(const void* src, size_t count) {
  if (count < 16) return load_tail(src, count);
  return {{load(src), load(static_cast<const uint8_t*>(src) + 16)}};
}

/// The sums of 4 neighbouring signed bytes.
EMBERT_INLINE v128_t sums_of_4(v128_t bytes) {
  return wasm_i32x4_extadd_pairwise_i16x8(wasm_i16x8_extadd_pairwise_i8x16(bytes));
}
/// The sum of the 4 lanes.
EMBERT_INLINE int32_t sum_of_lanes(v128_t x) {
  x = wasm_i32x4_add(x, wasm_i32x4_shuffle(x, x, 2, 3, 0, 1));
  return wasm_i32x4_extract_lane(wasm_i32x4_add(x, wasm_i32x4_shuffle(x, x, 1, 0, 3, 2)), 0);
}

/// A table of 64 bytes.
struct ByteTable {
  v128_t piece[4];
};
EMBERT_INLINE ByteTable load_table(const uint8_t* p) {
  return {{load(p), load(p + 16), load(p + 32), load(p + 48)}};
}
/// Looks up 16 bytes; 0 for an index beyond the table. A swizzle gives 0 beyond its 16 entries.
EMBERT_INLINE v128_t look_up(const ByteTable& table, v128_t i) {
  const v128_t step = wasm_i8x16_splat(16);
  v128_t found = wasm_i8x16_swizzle(table.piece[0], i);
  for (size_t p = 1; p < 4; ++p) {
    i = wasm_i8x16_sub(i, step);
    found = wasm_v128_or(found, wasm_i8x16_swizzle(table.piece[p], i));
  }
  return found;
}

/// The bytes of a and b in turn: the first 8 of each, or the last 8.
EMBERT_INLINE v128_t zip_low(v128_t a, v128_t b) {
  return wasm_i8x16_shuffle(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
EMBERT_INLINE v128_t zip_high(v128_t a, v128_t b) {
  return wasm_i8x16_shuffle(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

}  // namespace
}  // namespace embert
