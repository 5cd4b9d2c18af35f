// SPDX-License-Identifier: Apache-2.0
// LayerNorm of blocks of rows, 8 columns at a time with a loop over the rows inside. n v - s1 is
// computed already shifted, as v (n 2^z) - s1 2^z, modulo 2^32: the difference fits. The bias joins
// the second product in 64 bits.
#include "kernels/variants.hpp"
#include "kernels/wasm/lanes_simd128.hpp"

namespace embert {
namespace {

constexpr size_t kRows = 16;
constexpr size_t kLanes = 8;

struct Row {
  LayerNormRow reference;
  int32_t factor;  // n 2^z
  int32_t sum;     // s1 2^z
  int64_t round;   // of both shifts after the product with y
};

EMBERT_INLINE Row prepare_row(const LayerNormArgs& args, const int16_t* src) {
  v128_t sum = wasm_i32x4_splat(0), squares = wasm_i64x2_splat(0);
  size_t c = 0;
  for (; c + kLanes <= args.n; c += kLanes) {
    const v128_t v = load(src + c);
    sum = wasm_i32x4_add(sum, wasm_i32x4_extadd_pairwise_i16x8(v));
    const v128_t pair = wasm_i32x4_dot_i16x8(v, v);  // unsigned, because two squares can be 2^31
    squares = wasm_i64x2_add(squares, wasm_i64x2_add(wasm_u64x2_extend_low_u32x4(pair),
                                                     wasm_u64x2_extend_high_u32x4(pair)));
  }
  int64_t s1 = sum_of_lanes(sum);
  int64_t s2 = wasm_i64x2_extract_lane(squares, 0) + wasm_i64x2_extract_lane(squares, 1);
  for (; c < args.n; ++c) {
    s1 += src[c];
    s2 += int32_t{src[c]} * src[c];
  }
  Row row;
  row.reference = layernorm_row(s1, s2, args.epsilon_n2, static_cast<int32_t>(args.n));
  const int32_t pre = row.reference.pre_shift;
  row.factor = static_cast<int32_t>(static_cast<uint32_t>(args.n) << pre);
  row.sum = static_cast<int32_t>(static_cast<uint32_t>(row.reference.s1) << pre);
  row.round = (int64_t{1} << 30) + (int64_t{1} << (30 + row.reference.shift));
  return row;
}

// 4 columns. bias is in 64-bit lanes, shifted left by 31, and includes the roundings.
struct Columns {
  v128_t gain, bias_low, bias_high;
};
EMBERT_INLINE Columns load_columns(const LayerNormArgs& args, size_t c) {
  const v128_t bias = load(args.bias + c);
  const v128_t round = wasm_i64x2_splat((int64_t{1} << 30) + (int64_t{1} << (23 + args.shift)));
  return {load(args.gain + c),
          wasm_i64x2_add(wasm_i64x2_shl(wasm_i64x2_extend_low_i32x4(bias), 31), round),
          wasm_i64x2_add(wasm_i64x2_shl(wasm_i64x2_extend_high_i32x4(bias), 31), round)};
}

EMBERT_INLINE v128_t normalise(v128_t v, const Row& row, const Columns& k, uint32_t shift) {
  const v128_t centred =
      wasm_i32x4_sub(wasm_i32x4_mul(v, wasm_i32x4_splat(row.factor)), wasm_i32x4_splat(row.sum));
  const v128_t normal_q21 = wasm_i32x4_shr(
      multiply_upper(centred, wasm_i32x4_splat(row.reference.y_q30), wasm_i64x2_splat(row.round)),
      static_cast<uint32_t>(row.reference.shift - 1));
  const v128_t normal = wasm_i32x4_shl(normal_q21, 3);
  return wasm_i32x4_shr(
      upper_halves(wasm_i64x2_add(wasm_i64x2_extmul_low_i32x4(normal, k.gain), k.bias_low),
                   wasm_i64x2_add(wasm_i64x2_extmul_high_i32x4(normal, k.gain), k.bias_high)),
      shift);
}

void normalise_block(LayerNormArgs args, const int16_t* src, int16_t* dst, size_t m) {
  Row rows[kRows];
  for (size_t i = 0; i < m; ++i) rows[i] = prepare_row(args, src + i * args.stride);
  const uint32_t shift = static_cast<uint32_t>(args.shift - 8);
  size_t c = 0;
  for (; c + kLanes <= args.n; c += kLanes) {
    const Columns first = load_columns(args, c), second = load_columns(args, c + 4);
    for (size_t i = 0; i < m; ++i) {
      const v128_t v = load(src + i * args.stride + c);
      store(dst + i * args.stride + c,
            wasm_i16x8_narrow_i32x4(
                normalise(wasm_i32x4_extend_low_i16x8(v), rows[i], first, shift),
                normalise(wasm_i32x4_extend_high_i16x8(v), rows[i], second, shift)));
    }
  }
  for (; c < args.n; ++c) {
    for (size_t i = 0; i < m; ++i) {
      const size_t at = i * args.stride + c;
      dst[at] = static_cast<int16_t>(layernorm_value(src[at], static_cast<int32_t>(args.n),
                                                     rows[i].reference,
                                                     {args.gain[c], args.bias[c], args.shift}));
    }
  }
}

}  // namespace

void layernorm_s16_simd128(const LayerNormArgs& args) {
  for (size_t i = 0; i < args.m; i += kRows) {
    const size_t m = args.m - i < kRows ? args.m - i : kRows;
    normalise_block(args, args.src + i * args.stride, args.dst + i * args.stride, m);
  }
}

}  // namespace embert
