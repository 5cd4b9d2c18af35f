// SPDX-License-Identifier: Apache-2.0
// 16 bits to 8: the sum with half a step saturates, which changes no byte that a pack with
// saturation makes of it. The sums of two planes are joined in 32 bits where no lane can overflow.
#include "kernels/variants.hpp"
#include "kernels/wasm/row_to_bytes_simd128.hpp"

namespace embert {
namespace {

EMBERT_INLINE v128_t shift_7(v128_t x) {
  return wasm_i16x8_shr(wasm_i16x8_add_sat(x, wasm_i16x8_splat(64)), 7);
}

}  // namespace

void convert_s8_s16_simd128(const ConvertS8S16Args& args) {
  for (size_t i = 0; i < args.m; ++i) {
    row_to_bytes(
        args.src + i * args.src_stride, args.k, args.dst + i * args.dst_stride,
        [](v128_t a, v128_t b) {
          return to_bytes({{shift_7(a), shift_7(b)}});
        },
        [](int32_t x) { return sat8(shift_round(x, 7)); });
  }
}

void convert_s8x2_s16_simd128(const ConvertS8x2S16Args& args) {
  const v128_t highest = wasm_i16x8_splat(kValueBound), lowest = wasm_i16x8_splat(-kValueBound);
  const v128_t half = wasm_i16x8_splat(128);
  const v128_t flip = wasm_u8x16_splat(args.flip);
  const size_t whole = args.k / 16 * 16;
  const auto clamped = [&](const int16_t* p) {
    return wasm_i16x8_max(wasm_i16x8_min(load(p), highest), lowest);
  };
  for (size_t i = 0; i < args.m; ++i) {
    const int16_t* src = args.src + i * args.src_stride;
    uint8_t* high = args.dst + 2 * i * args.dst_stride;
    uint8_t* low = high + args.dst_stride;
    for (size_t c = 0; c < whole; c += 16) {
      const v128_t a = clamped(src + c), b = clamped(src + c + 8);
      const v128_t h = wasm_i8x16_shuffle(wasm_i16x8_add(a, half), wasm_i16x8_add(b, half), 1, 3, 5,
                                          7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
      const v128_t l =
          wasm_i8x16_shuffle(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
      store(high + c, wasm_v128_xor(h, flip));
      store(low + c, wasm_v128_xor(wasm_i8x16_max(l, wasm_i8x16_splat(-127)), flip));
    }
  }
  if (whole == args.k) return;
  ConvertS8x2S16Args tail = args;
  tail.k -= whole, tail.src += whole, tail.dst += whole;
  convert_s8x2_s16_scalar(tail);
}

void convert_s32_s32x2_simd128(const ConvertS32S32x2Args& args) {
  const uint32_t shift = static_cast<uint32_t>(args.join_shift), left = 8 - shift;
  const v128_t round = wasm_i32x4_splat(shift > 0 ? 1 << (shift - 1) : 0);
  const v128_t high_bits = wasm_i32x4_splat(join_high_bits(args.join_shift));
  const v128_t low_bits = wasm_i32x4_splat(kJoinLowBits);
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* high = args.acc + 2 * i * args.acc_stride;
    const int32_t* low = high + args.acc_stride;
    int32_t* dst = args.dst + i * args.dst_stride;
    for (size_t c = 0; c < args.n; c += 4) {
      const int32_t* bias = args.bias != nullptr ? args.bias + c : nullptr;
      if (c + 4 <= args.n) {
        const v128_t h = load(high + c), l = load(low + c);
        const v128_t b = bias != nullptr ? load(bias) : wasm_i32x4_splat(0);
        const v128_t others = wasm_v128_or(wasm_i32x4_abs(l), wasm_i32x4_abs(b));
        const v128_t beyond = wasm_v128_or(wasm_v128_and(wasm_i32x4_abs(h), high_bits),
                                           wasm_v128_and(others, low_bits));
        if (!wasm_v128_any_true(beyond)) {
          const v128_t rounded = wasm_i32x4_shr(wasm_i32x4_add(l, round), shift);
          store(dst + c, wasm_i32x4_add(wasm_i32x4_add(wasm_i32x4_shl(h, left), rounded), b));
          continue;
        }
      }
      convert_s32_s32x2_scalar({.m = 1,
                                .n = args.n - c < 4 ? args.n - c : 4,
                                .acc = high + c,
                                .acc_stride = args.acc_stride,
                                .join_shift = args.join_shift,
                                .bias = bias,
                                .dst = dst + c,
                                .dst_stride = args.dst_stride});
    }
  }
}

}  // namespace embert
