// SPDX-License-Identifier: Apache-2.0
// Gate of 16 columns at a time with a loop over the rows inside. Tensors without a right shift go
// through the scalar kernel.
#include "kernels/variants.hpp"
#include "kernels/wasm/lanes_simd128.hpp"

namespace embert {
namespace {

struct Gate {
  v128_t offset;   // 16-bit lanes
  v128_t round;    // 32-bit lanes
  uint32_t shift;  // of the product
};

EMBERT_INLINE v128_t gated(v128_t activated, v128_t gate, const Gate& k) {
  const v128_t value = wasm_i16x8_sub(activated, k.offset);
  const v128_t low = wasm_i32x4_add(wasm_i32x4_extmul_low_i16x8(value, gate), k.round);
  const v128_t high = wasm_i32x4_add(wasm_i32x4_extmul_high_i16x8(value, gate), k.round);
  return wasm_i16x8_narrow_i32x4(wasm_i32x4_shr(low, k.shift), wasm_i32x4_shr(high, k.shift));
}

void run(RequantizeGateArgs args) {  // a copy, which no store can change
  const Shifts shifts = make_shifts<true>(args.factor.left, args.factor.right);
  const Gate k = {wasm_i16x8_splat(static_cast<int16_t>(args.offset)),
                  wasm_i32x4_splat(args.shift == 0 ? 0 : 1 << (args.shift - 1)),
                  static_cast<uint32_t>(args.shift)};
  for (size_t c = 0; c < args.n; c += 16) {
    const Columns16 m = load16(args.factor.multiplier + c);
    for (size_t i = 0; i < args.m; ++i) {
      int16_t* values = args.values + i * args.stride + c;
      const Words16 gate =
          max16(requantize16<true>(args.acc + i * args.acc_stride + c, m, shifts), -32767);
      Words16 u = load_words(values, args.n - c);
      for (size_t v = 0; v < 2; ++v) u.part[v] = gated(u.part[v], gate.part[v], k);
      store_words(values, max16(u, -32767), args.n - c);
    }
  }
}

}  // namespace

void requantize_gate_simd128(const RequantizeGateArgs& args) {
  if (args.factor.right == 0) {
    requantize_gate_scalar(args);
  } else {
    run(args);
  }
}

}  // namespace embert
