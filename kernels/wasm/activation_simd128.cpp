// SPDX-License-Identifier: Apache-2.0
// Activation of 16 columns in 16-bit lanes, with a loop over the rows inside. Swizzles look up a
// table of 64 intervals (gelu) byte by byte, in four pieces of 16 entries for each byte of node and
// difference. Longer tables (silu, tanh) go through the scalar kernel.
#include "kernels/variants.hpp"
#include "kernels/wasm/lanes_simd128.hpp"

namespace embert {
namespace {

struct Table {
  ByteTable node_low, node_high, low, high;  // the bytes of nodes, then of differences
  uint32_t interval_shift, fraction_shift;
  v128_t output_factor;  // 2^(15 - output shift), for a rounding 16-bit product
  v128_t offset;
};

EMBERT_INLINE Table make_table(const Activation& a) {
  Table t = {};
  t.interval_shift = static_cast<uint32_t>(a.exponent - 4);
  t.fraction_shift = static_cast<uint32_t>(19 - a.exponent);
  t.output_factor = wasm_i16x8_splat(static_cast<int16_t>(1 << (a.exponent + 1)));
  t.offset = wasm_i16x8_splat(static_cast<int16_t>(a.offset_q14));
  if (a.intervals != 0) {
    uint8_t bytes[4][64];
    for (size_t i = 0; i < 64; ++i) {
      const int32_t node = a.nodes[i], difference = a.nodes[i + 1] - node;
      bytes[0][i] = static_cast<uint8_t>(node & 0xff);
      bytes[1][i] = static_cast<uint8_t>(node >> 8 & 0xff);
      bytes[2][i] = static_cast<uint8_t>(difference & 0xff);
      bytes[3][i] = static_cast<uint8_t>(difference >> 8 & 0xff);
    }
    t.node_low = load_table(bytes[0]);
    t.node_high = load_table(bytes[1]);
    t.low = load_table(bytes[2]);
    t.high = load_table(bytes[3]);
  }
  return t;
}

// h(|g|) of 16 columns.
EMBERT_INLINE Words16 remainders(const Words16& g, const Table& t) {
  v128_t interval[2], fraction[2];
  for (size_t v = 0; v < 2; ++v) {
    const v128_t magnitude = wasm_i16x8_abs(g.part[v]);
    interval[v] = wasm_u16x8_shr(magnitude, t.interval_shift);
    fraction[v] =
        wasm_v128_and(wasm_i16x8_shl(magnitude, t.fraction_shift), wasm_i16x8_splat(0x7fff));
  }
  const v128_t i = wasm_u8x16_narrow_i16x8(interval[0], interval[1]);
  const v128_t node_low = look_up(t.node_low, i), node_high = look_up(t.node_high, i);
  const v128_t low = look_up(t.low, i), high = look_up(t.high, i);
  return {{wasm_i16x8_add(zip_low(node_low, node_high),
                          wasm_i16x8_q15mulr_sat(zip_low(low, high), fraction[0])),
           wasm_i16x8_add(zip_high(node_low, node_high),
                          wasm_i16x8_q15mulr_sat(zip_high(low, high), fraction[1]))}};
}

template <bool kRight>
void run(RequantizeActivationArgs args) {  // a copy, which no store can change
  const Shifts shifts = make_shifts<kRight>(args.factor.left, args.factor.right);
  const Table table = make_table(args.activation);
  const v128_t zero = wasm_i16x8_splat(0);
  for (size_t c = 0; c < args.n; c += 16) {
    const Columns16 m = load16(args.factor.multiplier + c);
    for (size_t i = 0; i < args.m; ++i) {
      const int32_t* acc = args.acc + i * args.acc_stride + c;
      const Words16 g = max16(requantize16<kRight>(acc, m, shifts), -32767);
      Words16 h = {{zero, zero}};
      if (args.activation.intervals != 0) h = remainders(g, table);
      Words16 u;
      for (size_t v = 0; v < 2; ++v) {
        const v128_t rest = wasm_i16x8_sub(table.offset, h.part[v]);
        u.part[v] = wasm_i16x8_add_sat(wasm_i16x8_max(g.part[v], zero),
                                       wasm_i16x8_q15mulr_sat(rest, table.output_factor));
      }
      store_words(args.dst + i * args.dst_stride + c, u, args.n - c);
    }
  }
}

}  // namespace

void requantize_activation_simd128(const RequantizeActivationArgs& args) {
  if (args.activation.intervals > 64) {
    requantize_activation_scalar(args);
  } else if (args.factor.right != 0) {
    run<true>(args);
  } else {
    run<false>(args);
  }
}

}  // namespace embert
