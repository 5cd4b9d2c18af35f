// SPDX-License-Identifier: Apache-2.0
// Activation of 16 columns of two rows (ARMv7: one) in 16-bit lanes. A saturating left shift moves
// the interval i into the upper byte of the magnitude and the fraction f, in 1/256, into the lower
// one. TBL looks up nodes and differences byte by byte, in pieces of 64 entries; beyond the table
// it gives 0. Another shift by 7 leaves f, less 256 where i is odd: there the table has node i + 1,
// which is a difference more. About 48 instructions for 16 elements (gelu), 44 without a shift of
// the tensor.
#include "kernels/arithmetic/layout.hpp"
#include "kernels/arm/lanes_neon.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

// A magnitude beyond 256 intervals looks like one in the last: no remainder is left there.
static_assert(kSiluNodes[255] == 0 && kSiluNodes[256] == 0);

constexpr size_t kRows = EMBERT_AARCH64 ? 2 : 1;  // at a time

// The bytes of nodes, and low and high bytes of differences, 64 entries a piece.
template <size_t Pieces>
struct Table {
  ByteTable node_low[Pieces], node_high[Pieces], low[Pieces], high[Pieces];
};
template <>
struct Table<0> {};

struct Constants {
  int32x4_t count;         // of the tensor's shift
  int16x8_t index_count;   // shift to 8 bits of fraction
  int16x8_t output_count;  // negative
  int16x8_t offset;
  int16x8_t upper;  // of the odd kind, for g >= 0
};
EMBERT_INLINE Constants constants(const RequantizeActivationArgs& args) {
  const Activation& a = args.activation;
  return {shift_count(args.factor), vdupq_n_s16(static_cast<int16_t>(12 - a.exponent)),
          vdupq_n_s16(static_cast<int16_t>(a.exponent - 14)),
          vdupq_n_s16(static_cast<int16_t>(a.offset_q14)),
          vdupq_n_s16(static_cast<int16_t>(2 << a.exponent))};
}

EMBERT_INLINE void split(int16x8_t x, uint8_t* low, uint8_t* high) {
  vst1_u8(low, vmovn_u16(vreinterpretq_u16_s16(x)));
  vst1_u8(high, vshrn_n_u16(vreinterpretq_u16_s16(x), 8));
}

template <size_t Pieces>
void make_table(const int16_t* nodes, Table<Pieces>* t) {
  const uint16x8_t odd = vreinterpretq_u16_u32(vdupq_n_u32(0xffff0000));
  for (size_t p = 0; p < Pieces; ++p, nodes += 64) {
    uint8_t bytes[4][64];
    for (size_t i = 0; i < 64; i += 8) {
      const int16x8_t left = vld1q_s16(nodes + i), right = vld1q_s16(nodes + i + 1);
      split(vbslq_s16(odd, right, left), bytes[0] + i, bytes[1] + i);
      split(vsubq_s16(right, left), bytes[2] + i, bytes[3] + i);
    }
    t->node_low[p] = load_table(bytes[0]);
    t->node_high[p] = load_table(bytes[1]);
    t->low[p] = load_table(bytes[2]);
    t->high[p] = load_table(bytes[3]);
  }
}

// Entries i[r] of a table of bytes. One load serves all rows, as registers do not hold all tables.
template <size_t Pieces, size_t kN>
EMBERT_INLINE void look_up(const ByteTable (&pieces)[Pieces], const uint8x16_t (&i)[kN],
                           uint8x16_t (&found)[kN]) {
#pragma GCC unroll 4
  for (size_t p = 0; p < Pieces; ++p) {
    asm volatile("" ::: "memory");  // else gcc 12 loads all tables at once, and spills them
    const ByteTable piece = pieces[p];
#pragma GCC unroll 2
    for (size_t r = 0; r < kN; ++r) {
      const uint8x16_t at = vsubq_u8(i[r], vdupq_n_u8(static_cast<uint8_t>(64 * p)));
      found[r] = p == 0 ? look_up(piece, i[r]) : look_up(piece, at, found[r]);
    }
  }
}

EMBERT_INLINE int16x8_t words(uint8x16_t low, uint8x16_t high, bool second) {
  return vreinterpretq_s16_u8(second ? vzip2q_u8(low, high) : vzip1q_u8(low, high));
}

// Replaces g in 16 columns of each row by h(|g|).
template <size_t Pieces, size_t kN>
EMBERT_INLINE void remainders(const Table<Pieces>& t, int16x8_t index_count,
                              int16x8x2_t (&rows)[kN]) {
  uint8x16_t i[kN], low[kN], high[kN];
#pragma GCC unroll 2
  for (size_t r = 0; r < kN; ++r) {
    uint16x8_t position[2];
#pragma GCC unroll 2
    for (size_t v = 0; v < 2; ++v) {
      position[v] = vqshlq_u16(vreinterpretq_u16_s16(vqabsq_s16(rows[r].val[v])), index_count);
      rows[r].val[v] = vreinterpretq_s16_u16(vshlq_n_u16(position[v], 7));
    }
    i[r] = vuzp2q_u8(vreinterpretq_u8_u16(position[0]), vreinterpretq_u8_u16(position[1]));
  }
  look_up(t.low, i, low);
  look_up(t.high, i, high);
#pragma GCC unroll 2
  for (size_t r = 0; r < kN; ++r) {
    rows[r].val[0] = vqrdmulhq_s16(words(low[r], high[r], false), rows[r].val[0]);
    rows[r].val[1] = vqrdmulhq_s16(words(low[r], high[r], true), rows[r].val[1]);
  }
  look_up(t.node_low, i, low);
  look_up(t.node_high, i, high);
#pragma GCC unroll 2
  for (size_t r = 0; r < kN; ++r) {
    rows[r].val[0] = vaddq_s16(words(low[r], high[r], false), rows[r].val[0]);
    rows[r].val[1] = vaddq_s16(words(low[r], high[r], true), rows[r].val[1]);
  }
}

enum class Kind { kEven, kOdd };

template <Kind kKind>
EMBERT_INLINE int16x8_t combine(int16x8_t g, int16x8_t h, const Constants& k) {
  int16x8_t base, rest;
  if (kKind == Kind::kOdd) {
    const uint16x8_t negative = vcltzq_s16(g);
    base = vbicq_s16(k.upper, vreinterpretq_s16_u16(negative));
    rest = vbslq_s16(negative, h, vnegq_s16(h));
  } else {
    base = vmaxq_s16(g, vdupq_n_s16(0));
    rest = vsubq_s16(k.offset, h);
  }
  return vqaddq_s16(base, vrshlq_s16(rest, k.output_count));
}

// 16 columns of kN rows; acc is padded to 16.
template <bool kRight, bool kLeft, Kind kKind, size_t Pieces, size_t kN>
EMBERT_INLINE void activate(MatrixView<const int32_t> acc, const int32x4x4_t& multiplier,
                            const Constants& k, const Table<Pieces>& table, int16x8x2_t (&u)[kN]) {
  int16x8x2_t g[kN];
#pragma GCC unroll 2
  for (size_t r = 0; r < kN; ++r) {
    g[r] = requantize16<kRight, kLeft>(acc.data + r * acc.stride, multiplier, k.count);
    u[r] = Pieces > 0 ? g[r] : int16x8x2_t{{vdupq_n_s16(0), vdupq_n_s16(0)}};
  }
  if constexpr (Pieces > 0) remainders(table, k.index_count, u);
#pragma GCC unroll 2
  for (size_t r = 0; r < kN; ++r) {
    u[r].val[0] = combine<kKind>(g[r].val[0], u[r].val[0], k);
    u[r].val[1] = combine<kKind>(g[r].val[1], u[r].val[1], k);
  }
}

// The columns from c on of the rows from i on, one by one. Out of line, as the call of memcpy would
// keep the constants of run() out of registers.
template <bool kRight, bool kLeft, Kind kKind, size_t Pieces>
[[gnu::noinline]] void run_rest(const RequantizeActivationArgs& args, const Table<Pieces>& table,
                                size_t c, size_t i) {
  const Constants k = constants(args);
  for (; c < args.n; c += 16) {
    const int32x4x4_t multiplier = vld1q_s32_x4(args.factor.multiplier + c);
    for (size_t row = i; row < args.m; ++row) {
      const int32_t* acc = args.acc + row * args.acc_stride + c;
      int16_t* dst = reinterpret_cast<int16_t*>(args.dst) + row * args.dst_stride + c;
      int16x8x2_t u[1];
      activate<kRight, kLeft, kKind>({acc, 0}, multiplier, k, table, u);
      if (c + 16 <= args.n) {
        store16(dst, u[0]);
      } else {
        store_first(dst, u[0], args.n - c);
      }
    }
  }
}

template <bool kRight, bool kLeft, Kind kKind, size_t Pieces>
void run(RequantizeActivationArgs args) {  // a copy, which no store can change
  Table<Pieces> table;
  if constexpr (Pieces > 0) make_table(args.activation.nodes, &table);
  const Constants k = constants(args);
  const size_t acc_stride = args.acc_stride, dst_stride = args.dst_stride;
  const size_t columns = args.n / 16 * 16, rows = args.m / kRows * kRows;
  for (size_t c = 0; c < columns; c += 16) {
    const int32x4x4_t multiplier = vld1q_s32_x4(args.factor.multiplier + c);
    const int32_t* acc = args.acc + c;
    int16_t* dst = reinterpret_cast<int16_t*>(args.dst) + c;
    for (size_t i = 0; i < rows; i += kRows) {
      int16x8x2_t u[kRows];
      activate<kRight, kLeft, kKind>({acc, acc_stride}, multiplier, k, table, u);
#pragma GCC unroll 2
      for (size_t r = 0; r < kRows; ++r) store16(dst + r * dst_stride, u[r]);
      acc += kRows * acc_stride, dst += kRows * dst_stride;
    }
  }
  if (columns < args.n) run_rest<kRight, kLeft, kKind>(args, table, columns, 0);
  if (rows < args.m) run_rest<kRight, kLeft, kKind>(args, table, 0, rows);
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
