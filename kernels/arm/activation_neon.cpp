// SPDX-License-Identifier: Apache-2.0
// Activation of 16 columns in 16-bit lanes. A saturating left shift moves the interval i into the
// upper byte of the magnitude and the fraction f, in 1/256, into the lower one. TBL looks up nodes
// and differences byte by byte, in pieces of 64 entries. It gives 0 beyond the table; only a table
// of 256 intervals needs a comparison. Another shift by 7 leaves f, less 256 where i is odd: there
// the table has node i + 1, which is a difference more. About 49 instructions for 16 elements
// (gelu), 45 without a shift of the tensor.
#include "kernels/arm/lanes_neon.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

template <size_t Pieces>
struct Bytes {
  ByteTable piece[Pieces == 0 ? 1 : Pieces];  // 64 entries each
};

template <size_t Pieces>
struct Table {
  // The bytes of nodes, and low and high bytes of differences.
  Bytes<Pieces> node_low, node_high, low, high;
  int16x8_t index_count;   // shift to 8 bits of fraction
  int16x8_t output_count;  // negative
  int16x8_t offset;
  int16x8_t last;   // the last magnitude inside a table of 256 intervals
  int16x8_t upper;  // of the odd kind, for g >= 0
};

template <size_t Pieces>
void make_table(const Activation& a, Table<Pieces>* t) {
  const int32_t interval_shift = a.exponent - 4;
  t->index_count = vdupq_n_s16(static_cast<int16_t>(8 - interval_shift));
  t->output_count = vdupq_n_s16(static_cast<int16_t>(a.exponent - 14));
  t->offset = vdupq_n_s16(static_cast<int16_t>(a.offset_q14));
  t->last = vdupq_n_s16(static_cast<int16_t>(sat16((256 << interval_shift) - 1)));
  t->upper = vdupq_n_s16(static_cast<int16_t>(2 << a.exponent));
  const uint16x8_t odd = vreinterpretq_u16_u32(vdupq_n_u32(0xffff0000));
  for (size_t p = 0; p < Pieces; ++p) {
    uint8_t bytes[4][64];
    for (size_t i = 0; i < 64; i += 8) {
      const int16x8_t left = vld1q_s16(a.nodes + 64 * p + i);
      const int16x8_t right = vld1q_s16(a.nodes + 64 * p + i + 1);
      const uint16x8_t node = vreinterpretq_u16_s16(vbslq_s16(odd, right, left));
      const uint16x8_t difference = vreinterpretq_u16_s16(vsubq_s16(right, left));
      vst1_u8(bytes[0] + i, vmovn_u16(node));
      vst1_u8(bytes[1] + i, vshrn_n_u16(node, 8));
      vst1_u8(bytes[2] + i, vmovn_u16(difference));
      vst1_u8(bytes[3] + i, vshrn_n_u16(difference, 8));
    }
    t->node_low.piece[p] = load_table(bytes[0]);
    t->node_high.piece[p] = load_table(bytes[1]);
    t->low.piece[p] = load_table(bytes[2]);
    t->high.piece[p] = load_table(bytes[3]);
  }
}
template <size_t Pieces>
EMBERT_INLINE uint8x16_t look_up(const Bytes<Pieces>& bytes, uint8x16_t i) {
  uint8x16_t found = look_up(bytes.piece[0], i);
#pragma GCC unroll 3
  for (size_t p = 1; p < Pieces; ++p) {
    i = vsubq_u8(i, vdupq_n_u8(64));
    found = look_up(bytes.piece[p], i, found);
  }
  return found;
}

EMBERT_INLINE int16x8_t words(uint8x16_t low, uint8x16_t high, bool second) {
  return vreinterpretq_s16_u8(second ? vzip2q_u8(low, high) : vzip1q_u8(low, high));
}

// h(|g|) of 16 columns.
template <size_t Pieces>
EMBERT_INLINE int16x8x2_t remainders(int16x8x2_t g, const Table<Pieces>& t) {
  const int16x8_t magnitude[2] = {vqabsq_s16(g.val[0]), vqabsq_s16(g.val[1])};
  const uint16x8_t position[2] = {vqshlq_u16(vreinterpretq_u16_s16(magnitude[0]), t.index_count),
                                  vqshlq_u16(vreinterpretq_u16_s16(magnitude[1]), t.index_count)};
  const uint8x16_t i =
      vuzp2q_u8(vreinterpretq_u8_u16(position[0]), vreinterpretq_u8_u16(position[1]));
  const uint8x16_t node_low = look_up(t.node_low, i), node_high = look_up(t.node_high, i);
  const uint8x16_t low = look_up(t.low, i), high = look_up(t.high, i);
  int16x8x2_t h;
#pragma GCC unroll 2
  for (size_t v = 0; v < 2; ++v) {
    const int16x8_t fraction = vreinterpretq_s16_u16(vshlq_n_u16(position[v], 7));
    const int16x8_t part = vqrdmulhq_s16(words(low, high, v != 0), fraction);
    h.val[v] = vaddq_s16(words(node_low, node_high, v != 0), part);
    if (Pieces == 4) {
      const uint16x8_t inside = vcleq_s16(magnitude[v], t.last);
      h.val[v] = vandq_s16(h.val[v], vreinterpretq_s16_u16(inside));
    }
  }
  return h;
}

enum class Kind { kEven, kOdd };

template <Kind kKind, size_t Pieces>
EMBERT_INLINE int16x8_t combine(int16x8_t g, int16x8_t h, const Table<Pieces>& t) {
  int16x8_t base, rest;
  if (kKind == Kind::kOdd) {
    const uint16x8_t negative = vcltzq_s16(g);
    base = vbicq_s16(t.upper, vreinterpretq_s16_u16(negative));
    rest = vbslq_s16(negative, h, vnegq_s16(h));
  } else {
    base = vmaxq_s16(g, vdupq_n_s16(0));
    rest = vsubq_s16(t.offset, h);
  }
  return vqaddq_s16(base, vrshlq_s16(rest, t.output_count));
}

// 16 columns from c on or, where kWhole is false, the rest of the row: acc and multiplier are
// padded to 16.
template <bool kRight, bool kLeft, Kind kKind, size_t Pieces, bool kWhole>
EMBERT_INLINE void activate_columns(const RequantizeActivationArgs& args, size_t c,
                                    const Table<Pieces>& table) {
  const int32x4_t count = shift_count(args.factor);
  const int32x4x4_t multiplier = vld1q_s32_x4(args.factor.multiplier + c);
  const int32_t* acc = args.acc + c;
  int16_t* dst = reinterpret_cast<int16_t*>(args.dst) + c;
  for (size_t i = args.m; i > 0; --i, acc += args.acc_stride, dst += args.dst_stride) {
    const int16x8x2_t g = requantize16<kRight, kLeft>(acc, multiplier, count);
    int16x8x2_t u = {{vdupq_n_s16(0), vdupq_n_s16(0)}};
    if constexpr (Pieces > 0) u = remainders<Pieces>(g, table);
    u.val[0] = combine<kKind>(g.val[0], u.val[0], table);
    u.val[1] = combine<kKind>(g.val[1], u.val[1], table);
    if (kWhole) {
      store16(dst, u);
    } else {
      store_first(dst, u, args.n - c);
    }
  }
}

template <bool kRight, bool kLeft, Kind kKind, size_t Pieces>
void run(RequantizeActivationArgs args) {  // a copy, which no store can change
  Table<Pieces> table;
  make_table<Pieces>(args.activation, &table);
  size_t c = 0;
  for (; c + 16 <= args.n; c += 16) {
    activate_columns<kRight, kLeft, kKind, Pieces, true>(args, c, table);
  }
  if (c < args.n) activate_columns<kRight, kLeft, kKind, Pieces, false>(args, c, table);
}

template <bool kRight>
void run_kind(const RequantizeActivationArgs& args) {
  const int32_t intervals = args.activation.intervals;
  if (intervals == 0) return run<kRight, !kRight, Kind::kEven, 0>(args);
  if (intervals == 64) return run<kRight, !kRight, Kind::kEven, 1>(args);
  if (intervals == 128) return run<kRight, !kRight, Kind::kOdd, 2>(args);
  run<kRight, !kRight, Kind::kEven, 4>(args);
}

}  // namespace

void requantize_activation_neon(const RequantizeActivationArgs& args) {
  if (args.factor.right != 0) {
    run_kind<true>(args);
  } else if (args.factor.left != 0 || args.activation.intervals != 64) {
    run_kind<false>(args);
  } else {
    run<false, false, Kind::kEven, 1>(args);  // gelu, the usual one
  }
}

}  // namespace embert
