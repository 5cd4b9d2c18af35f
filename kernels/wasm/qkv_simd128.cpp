// SPDX-License-Identifier: Apache-2.0
// Queries, keys and values, 16 columns at a time. Queries have a loop over the rows inside; keys
// and values take 4 tokens together. Keys are transposed in words, because the 4 inputs of a token
// stay together, and values in bytes, because the 4 tokens of a column come together. A tensor
// without a right shift, whose sums are hardly larger than bytes, goes through the scalar kernel.
#include "kernels/variants.hpp"
#include "kernels/wasm/lanes_simd128.hpp"

namespace embert {
namespace {

void run_query(RequantizeQueryArgs args) {  // a copy, which no store can change
  const Shifts shifts = make_shifts<true>(args.factor.left, args.factor.right);
  const v128_t flip = wasm_u8x16_splat(kSignedLhsFlip);
  for (size_t c = 0; c < args.n; c += 16) {
    const Columns16 m = load16(args.factor.multiplier + c);
    const size_t left = args.n - c;
    for (size_t i = 0; i < args.m; ++i) {
      uint8_t* dst = args.dst + i * args.dst_stride + c;
      const int32_t* acc = args.acc + i * args.acc_stride + c;
      const v128_t bytes = wasm_v128_xor(to_bytes(requantize16<true>(acc, m, shifts)), flip);
      if (left >= 16) {
        store(dst, bytes);
      } else {
        store_first(dst, bytes, left);
        memset(dst + left, kSignedLhsFlip, pad_inputs(left) - left);
      }
    }
  }
}

// Rows of 4 words each.
struct Words4x4 {
  v128_t row[4];
};
EMBERT_INLINE Words4x4 transposed(const Words4x4& x) {
  const v128_t a = wasm_i32x4_shuffle(x.row[0], x.row[1], 0, 4, 1, 5);
  const v128_t b = wasm_i32x4_shuffle(x.row[2], x.row[3], 0, 4, 1, 5);
  const v128_t c = wasm_i32x4_shuffle(x.row[0], x.row[1], 2, 6, 3, 7);
  const v128_t d = wasm_i32x4_shuffle(x.row[2], x.row[3], 2, 6, 3, 7);
  return {{wasm_i64x2_shuffle(a, b, 0, 2), wasm_i64x2_shuffle(a, b, 1, 3),
           wasm_i64x2_shuffle(c, d, 0, 2), wasm_i64x2_shuffle(c, d, 1, 3)}};
}

// Keeps the first left lanes, the others become 0.
EMBERT_INLINE v128_t first_lanes(v128_t x, size_t left) {
  const v128_t lane = wasm_u8x16_const(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return wasm_v128_and(x, wasm_u8x16_lt(lane, wasm_u8x16_splat(static_cast<uint8_t>(left))));
}

// Keys of up to 4 tokens. In a step their 4 words lie side by side; those of other tokens stay as
// they are.
EMBERT_INLINE void key_group(const RequantizeKeyArgs& args, size_t row, size_t m, const Shifts& s) {
  const size_t k = pad_inputs(args.n), token = args.row0 + row;
  const int32_t* acc = args.acc + row * args.acc_stride;
  int8_t* dst = args.dst + n16k4_index(token, 0, k);
  const v128_t zero = wasm_i32x4_splat(0);
  v128_t sums[4] = {zero, zero, zero, zero};
  for (size_t c = 0; c < args.n; c += 16) {
    const size_t left = args.n - c;
    const Columns16 factor = load16(args.factor.multiplier + c);
    Words4x4 tokens;
    for (size_t t = 0; t < 4; ++t) {
      const size_t from = t < m ? t : 0;
      v128_t bytes = to_bytes(requantize16<true>(acc + from * args.acc_stride + c, factor, s));
      if (left < 16) bytes = first_lanes(bytes, left);
      sums[t] = wasm_i32x4_add(sums[t], sums_of_4(bytes));
      tokens.row[t] = bytes;
    }
    const Words4x4 steps = transposed(tokens);
    for (size_t step = 0; step < 4 && 4 * step < left; ++step, dst += kStepBytes) {
      if (m == 4) {
        store(dst, steps.row[step]);
      } else {
        store_first(dst, steps.row[step], 4 * m);
      }
    }
  }
  for (size_t t = 0; t < m; ++t) args.sums[token + t] = sum_of_lanes(sums[t]);
}

void run_key(RequantizeKeyArgs args) {
  const Shifts s = make_shifts<true>(args.factor.left, args.factor.right);
  for (size_t i = 0; i < args.m; i += 4) {
    key_group(args, i, args.m - i < 4 ? args.m - i : 4, s);
  }
}

// 16 columns of one plane: where they go, and their sums so far.
struct Plane {
  int8_t* dst;
  v128_t sums[4];
};
// bytes[t] has 16 columns of token t.
EMBERT_INLINE void store_tokens(const v128_t* bytes, Plane& plane) {
  const v128_t a = zip_low(bytes[0], bytes[1]), b = zip_high(bytes[0], bytes[1]);
  const v128_t c = zip_low(bytes[2], bytes[3]), d = zip_high(bytes[2], bytes[3]);
  const v128_t columns[4] = {wasm_i16x8_shuffle(a, c, 0, 8, 1, 9, 2, 10, 3, 11),
                             wasm_i16x8_shuffle(a, c, 4, 12, 5, 13, 6, 14, 7, 15),
                             wasm_i16x8_shuffle(b, d, 0, 8, 1, 9, 2, 10, 3, 11),
                             wasm_i16x8_shuffle(b, d, 4, 12, 5, 13, 6, 14, 7, 15)};
  for (size_t v = 0; v < 4; ++v) {
    store(plane.dst + 16 * v, columns[v]);
    plane.sums[v] = wasm_i32x4_add(plane.sums[v], sums_of_4(columns[v]));
  }
  plane.dst += kStepBytes;
}

EMBERT_INLINE v128_t clamp_value(v128_t x) {
  return wasm_i16x8_max(wasm_i16x8_min(x, wasm_i16x8_splat(kValueBound)),
                        wasm_i16x8_splat(-kValueBound));
}
// The high byte of v + 128.
EMBERT_INLINE v128_t high_byte(v128_t v) {
  return wasm_i16x8_shr(wasm_i16x8_add(v, wasm_i16x8_splat(128)), 8);
}

// The sums of m tokens, in some columns.
struct Tokens {
  const int32_t* acc;
  size_t stride, m;
};
EMBERT_INLINE void value_group(const Tokens& tokens, const Columns16& k, const Shifts& s,
                               Plane& high_plane, Plane& low_plane) {
  v128_t high[4], low[4];
  for (size_t t = 0; t < 4; ++t) {
    high[t] = low[t] = wasm_i8x16_splat(0);
    if (t < tokens.m) {
      const Words16 x = requantize16<true>(tokens.acc + t * tokens.stride, k, s);
      const v128_t a = clamp_value(x.part[0]), b = clamp_value(x.part[1]);
      high[t] = wasm_i8x16_narrow_i16x8(high_byte(a), high_byte(b));
      const v128_t bytes =
          wasm_i8x16_shuffle(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
      low[t] = wasm_i8x16_max(bytes, wasm_i8x16_splat(-127));
    }
  }
  store_tokens(high, high_plane);
  store_tokens(low, low_plane);
}

EMBERT_INLINE void add_sums(int32_t* dst, bool first, const Plane& plane) {
  for (size_t v = 0; v < 4; ++v) {
    const v128_t sums = plane.sums[v];
    store(dst + 4 * v, first ? sums : wasm_i32x4_add(load(dst + 4 * v), sums));
  }
}

void run_value(RequantizeValueArgs args) {  // a copy, which no store can change
  const Shifts s = make_shifts<true>(args.factor.left, args.factor.right);
  const size_t columns = pad_columns(args.n);
  const v128_t zero = wasm_i32x4_splat(0);
  for (size_t c = 0; c < columns; c += 16) {
    const Columns16 factor = load16(args.factor.multiplier + c);
    Plane high = {args.dst + n16k4_index(c, args.row0, args.k), {zero, zero, zero, zero}};
    Plane low = {args.dst + n16k4_index(columns + c, args.row0, args.k), {zero, zero, zero, zero}};
    for (size_t i = 0; i < args.m; i += 4) {
      const int32_t* acc = args.acc + i * args.acc_stride + c;
      const size_t m = args.m - i < 4 ? args.m - i : 4;
      value_group({acc, args.acc_stride, m}, factor, s, high, low);
    }
    if (args.sums != nullptr) {
      add_sums(args.sums + c, args.row0 == 0, high);
      add_sums(args.sums + columns + c, args.row0 == 0, low);
    }
  }
}

}  // namespace

void requantize_query_simd128(const RequantizeQueryArgs& args) {
  if (args.factor.right == 0) {
    requantize_query_scalar(args);
  } else {
    run_query(args);
  }
}

void requantize_key_n16k4_simd128(const RequantizeKeyArgs& args) {
  if (args.factor.right == 0) {
    requantize_key_n16k4_scalar(args);
  } else {
    run_key(args);
  }
}

void requantize_value_n16k4_simd128(const RequantizeValueArgs& args) {
  if (args.factor.right == 0) {
    requantize_value_n16k4_scalar(args);
  } else {
    run_value(args);
  }
}

}  // namespace embert
