// SPDX-License-Identifier: Apache-2.0
// Dynamic quantisation, 16 columns at a time, with products of 32 bits.
#include "kernels/variants.hpp"
#include "kernels/wasm/row_to_bytes_simd128.hpp"

namespace embert {
namespace {

template <typename Source>
EMBERT_INLINE int32_t row_maximum(const Source* src, size_t k) {
  v128_t a = wasm_i16x8_splat(1), b = a;
  size_t c = 0;
  for (; c + 16 <= k; c += 16) {
    a = wasm_i16x8_max(a, wasm_i16x8_abs(load(src + c)));
    b = wasm_i16x8_max(b, wasm_i16x8_abs(load(src + c + 8)));
  }
  int16_t lane[8];
  store(lane, wasm_i16x8_max(a, b));
  int32_t largest = 0;
  for (const int16_t x : lane) largest = x > largest ? x : largest;
  for (; c < k; ++c) {
    const int32_t magnitude = src[c] < 0 ? -src[c] : src[c];
    largest = magnitude > largest ? magnitude : largest;
  }
  return largest;
}

EMBERT_INLINE v128_t shift_22(v128_t product) {
  return wasm_i32x4_shr(wasm_i32x4_add(product, wasm_i32x4_splat(1 << 21)), 22);
}

}  // namespace

void quantize_s8_s16_simd128(const QuantizeS8S16Args& args) {
  for (size_t i = 0; i < args.m; ++i) {
    const int16_t* src = args.src + i * args.src_stride;
    args.row_max[i] = row_maximum(src, args.k);
    const RowScale scale = row_scale(args.row_max[i], 127);
    const v128_t r = wasm_i16x8_splat(static_cast<int16_t>(scale.r));
    const auto quotients = [&](v128_t x) {
      const v128_t shifted = wasm_i16x8_shl(x, static_cast<uint32_t>(scale.z));
      return wasm_i16x8_narrow_i32x4(shift_22(wasm_i32x4_extmul_low_i16x8(shifted, r)),
                                     shift_22(wasm_i32x4_extmul_high_i16x8(shifted, r)));
    };
    row_to_bytes(
        src, args.k, args.dst + i * args.dst_stride,
        [&](v128_t a, v128_t b) {
          return to_bytes({{quotients(a), quotients(b)}});
        },
        [&](int32_t x) { return quantize_row_value(x, scale); });
  }
}

void quantize_u8_u16_simd128(const QuantizeU8U16Args& args) {
  const v128_t flip = wasm_u8x16_splat(kUnsignedLhsFlip);
  for (size_t i = 0; i < args.m; ++i) {
    const uint16_t* src = args.src + i * args.src_stride;
    args.row_max[i] = row_maximum(src, args.k);
    const RowScale scale = row_scale(args.row_max[i], 255);
    const v128_t r = wasm_u16x8_splat(static_cast<uint16_t>(scale.r));
    const auto quotients = [&](v128_t x) {
      const v128_t shifted = wasm_i16x8_shl(x, static_cast<uint32_t>(scale.z));
      return wasm_i16x8_narrow_i32x4(shift_22(wasm_u32x4_extmul_low_u16x8(shifted, r)),
                                     shift_22(wasm_u32x4_extmul_high_u16x8(shifted, r)));
    };
    row_to_bytes(
        src, args.k, args.dst + i * args.dst_stride,
        [&](v128_t a, v128_t b) {
          return wasm_v128_xor(wasm_u8x16_narrow_i16x8(quotients(a), quotients(b)), flip);
        },
        [&](int32_t x) { return quantize_row_value(x, scale); });
  }
}

}  // namespace embert
