// SPDX-License-Identifier: Apache-2.0
// Context of 16 columns at a time with a loop over the rows inside.
#include "kernels/arithmetic/layout.hpp"
#include "kernels/variants.hpp"
#include "kernels/wasm/lanes_simd128.hpp"

namespace embert {
namespace {

// The reciprocal of a row, and the shifts of join_planes().
struct Join {
  v128_t reciprocal;
  uint32_t left;  // 23 - z
  v128_t half;    // 2^30 in 64-bit lanes
  Shifts by8;
};
// join_planes() of 4 columns.
EMBERT_INLINE v128_t join(const int32_t* high, const int32_t* low, const Join& k) {
  return wasm_i32x4_add(
      multiply_shift(wasm_i32x4_shl(load(high), k.left), k.reciprocal, k.half, 31),
      requantize<true>(wasm_i32x4_shl(load(low), k.left), k.reciprocal, k.by8));
}

template <bool kRight>
void run(RequantizeContextArgs args) {  // a copy, which no store can change
  const Shifts shifts = make_shifts<kRight>(args.factor.left, args.factor.right);
  Join k;
  k.half = wasm_i64x2_splat(1 << 30);
  k.by8 = make_shifts<true>(0, 8);
  const size_t columns = pad_columns(args.n);
  for (size_t c = 0; c < args.n; c += 16) {
    const Columns16 m = load16(args.factor.multiplier + c);
    for (size_t i = 0; i < args.m; ++i) {
      const int32_t* acc = args.acc + i * args.acc_stride + c;
      k.reciprocal = wasm_i32x4_splat(args.row[i].value);
      k.left = static_cast<uint32_t>(23 - args.row[i].z);
      v128_t x[4];
      for (size_t v = 0; v < 4; ++v) {
        x[v] = requantize<kRight>(join(acc + 4 * v, acc + columns + 4 * v, k), m.part[v], shifts);
      }
      const Words16 y = {
          {wasm_i16x8_narrow_i32x4(x[0], x[1]), wasm_i16x8_narrow_i32x4(x[2], x[3])}};
      store_words(args.dst + i * args.dst_stride + c, max16(y, -32767), args.n - c);
    }
  }
}

}  // namespace

void requantize_context_simd128(const RequantizeContextArgs& args) {
  if (args.factor.right != 0) {
    run<true>(args);
  } else {
    run<false>(args);
  }
}

}  // namespace embert
