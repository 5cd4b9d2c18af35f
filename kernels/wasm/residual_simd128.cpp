// SPDX-License-Identifier: Apache-2.0
// Residual sum of 16 columns at a time with a loop over the rows inside. The residual's multiplier
// comes in two parts of 16 bits, because their products with a residual fit 32 bits.
#include "kernels/variants.hpp"
#include "kernels/wasm/lanes_simd128.hpp"

namespace embert {
namespace {

// The shifts of a tensor: the left one is done before.
struct TensorShifts {
  int32_t left;
  Shifts right;
};

struct Columns {
  Columns16 multiplier;
  Columns16 low, high;  // of the residual's multiplier
  Columns16 constant;   // with the rounding of the last shift
  TensorShifts shifts;
};
EMBERT_INLINE Columns load_columns(const RequantizeResidualArgs& args, size_t c,
                                   const TensorShifts& shifts) {
  Columns k = {load16(args.factor.multiplier + c), load16(args.residual_multiplier + c),
               load16(args.residual_multiplier + c), load16(args.constant + c), shifts};
  for (size_t v = 0; v < 4; ++v) {
    k.high.part[v] = wasm_i32x4_shr(wasm_i32x4_add(k.high.part[v], wasm_i32x4_splat(1 << 15)), 16);
    k.constant.part[v] = wasm_i32x4_add(k.constant.part[v], wasm_i32x4_splat(8));
  }
  return k;
}

// Saturates to 2^31 - 1: unlike in requantize() no clamp follows that would hide 2^31.
EMBERT_INLINE v128_t shift_left(v128_t x, int32_t left) {
  const v128_t highest = wasm_i32x4_splat(INT32_MAX >> left);
  const v128_t lowest = wasm_i32x4_splat(INT32_MIN / (1 << left));
  const v128_t shifted = wasm_i32x4_shl(wasm_i32x4_max(x, lowest), static_cast<uint32_t>(left));
  return wasm_v128_bitselect(wasm_i32x4_splat(INT32_MAX), shifted, wasm_i32x4_gt(x, highest));
}

// Part v of 16 columns. residual is zero-extended, so a dot multiplies the low halves alone.
template <bool kRight>
EMBERT_INLINE v128_t sum(v128_t x, v128_t residual, v128_t row_max, const Columns& k, size_t v) {
  if (!kRight) x = shift_left(x, k.shifts.left);
  const v128_t w = requantize<kRight>(x, k.multiplier.part[v], k.shifts.right);
  const v128_t bound = wasm_i32x4_splat(kResidualBound), lowest = wasm_i32x4_splat(-kResidualBound);
  const v128_t product = wasm_i32x4_max(
      wasm_i32x4_min(multiply_shift(w, row_max, wasm_i64x2_splat(1 << 14), 15), bound), lowest);
  const v128_t low = wasm_i32x4_shr(
      wasm_i32x4_add(wasm_i32x4_dot_i16x8(residual, k.low.part[v]), wasm_i32x4_splat(1 << 15)), 16);
  const v128_t carried = wasm_i32x4_add(wasm_i32x4_dot_i16x8(residual, k.high.part[v]), low);
  return wasm_i32x4_shr(wasm_i32x4_add(wasm_i32x4_add(product, k.constant.part[v]), carried), 4);
}

template <bool kRight>
void run(RequantizeResidualArgs args) {  // a copy, which no store can change
  const TensorShifts shifts = {args.factor.left, make_shifts<kRight>(0, args.factor.right)};
  for (size_t c = 0; c < args.n; c += 16) {
    const Columns k = load_columns(args, c, shifts);
    for (size_t i = 0; i < args.m; ++i) {
      const int32_t* acc = args.acc + i * args.acc_stride + c;
      const v128_t row_max = wasm_i32x4_splat(args.row_max[i]);
      const Words16 t = load_words(args.residual + i * args.dst_stride + c, args.n - c);
      Words16 y;
      for (size_t v = 0; v < 2; ++v) {
        const v128_t first = wasm_u32x4_extend_low_u16x8(t.part[v]);
        const v128_t second = wasm_u32x4_extend_high_u16x8(t.part[v]);
        y.part[v] = wasm_i16x8_narrow_i32x4(
            sum<kRight>(load(acc + 8 * v), first, row_max, k, 2 * v),
            sum<kRight>(load(acc + 8 * v + 4), second, row_max, k, 2 * v + 1));
      }
      store_words(args.dst + i * args.dst_stride + c, y, args.n - c);
    }
  }
}

}  // namespace

void requantize_residual_simd128(const RequantizeResidualArgs& args) {
  if (args.factor.right != 0) {
    run<true>(args);
  } else {
    run<false>(args);
  }
}

}  // namespace embert
