// SPDX-License-Identifier: Apache-2.0
// 16 bits to 8: the sum with half a step saturates, which changes no byte that a pack with
// saturation makes of it.
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

}  // namespace embert
