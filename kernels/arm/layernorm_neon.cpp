// SPDX-License-Identifier: Apache-2.0
// LayerNorm of blocks of rows, 32 columns at a time (ARMv7: 16) with a loop over the rows inside:
// gains and biases stay in registers, and LD4R loads the four numbers of a row. n v - s1 is
// computed already shifted, as v (n 2^z) - s1 2^z. Where n 2^z does not fit 16 bits, the product is
// taken in 32-bit lanes modulo 2^32; the difference fits 32 bits. About 41 instructions for 16
// elements, 45 where n 2^z has more bits, 10 for their sums.
#include "kernels/arm/lanes_neon.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

constexpr size_t kRows = 16;
constexpr size_t kColumns = EMBERT_AARCH64 ? 32 : 16;  // whose gains and biases fit registers

struct Row {
  int32_t factor;  // n 2^z; in both halves if all of a block fit 16 bits
  int32_t sum;     // s1 2^z
  int32_t y_q30;
  int32_t count;  // of the shift to Q21, negative
};
struct Block {
  LayerNormRow reference[kRows];
  Row rows[kRows];
  bool narrow;  // all factors fit 16 bits
};

EMBERT_INLINE LayerNormRow prepare_row(const LayerNormArgs& args, const int16_t* src) {
  int32x4_t sum = vdupq_n_s32(0);
  uint64x2_t squares = vdupq_n_u64(0);
  const auto add = [&](int16x8_t v) {
    sum = vpadalq_s16(sum, v);
    // Unsigned, because two squares can be 2^31.
    const int32x4_t low = vmull_s16(vget_low_s16(v), vget_low_s16(v));
    squares = vpadalq_u32(squares, vreinterpretq_u32_s32(vmlal_high_s16(low, v, v)));
  };
  size_t c = 0;
  for (; c + 32 <= args.n; c += 32) {
    const int16x8x4_t x = vld1q_s16_x4(src + c);
#pragma GCC unroll 4
    for (const int16x8_t v : x.val) add(v);
  }
  for (; c + 8 <= args.n; c += 8) add(vld1q_s16(src + c));
  int64_t s1 = vaddlvq_s32(sum), s2 = static_cast<int64_t>(vaddvq_u64(squares));
  for (; c < args.n; ++c) {
    s1 += src[c];
    s2 += int32_t{src[c]} * src[c];
  }
  return layernorm_row(s1, s2, args.epsilon_n2, static_cast<int32_t>(args.n));
}

void prepare_block(const LayerNormArgs& args, const int16_t* src, size_t m, Block* block) {
  const uint32_t n = static_cast<uint32_t>(args.n);
  int32_t deepest = 0;
  for (size_t i = 0; i < m; ++i) {
    block->reference[i] = prepare_row(args, src + i * args.stride);
    if (block->reference[i].pre_shift > deepest) deepest = block->reference[i].pre_shift;
  }
  block->narrow = uint64_t{n} << deepest <= 32767;
  for (size_t i = 0; i < m; ++i) {
    const LayerNormRow& row = block->reference[i];
    const uint32_t factor = (n << row.pre_shift) * (block->narrow ? 0x10001u : 1u);
    const uint32_t sum = static_cast<uint32_t>(row.s1) << row.pre_shift;
    block->rows[i] = {static_cast<int32_t>(factor), static_cast<int32_t>(sum), row.y_q30,
                      -row.shift};
  }
}

template <bool kNarrow>
EMBERT_INLINE int32x4_t centred(int16x8_t v, bool high, const int32x4x4_t& row) {
  int32x4_t product;
  if (kNarrow) {
    const int16x8_t factor = vreinterpretq_s16_s32(row.val[0]);
    product = high ? vmull_high_s16(v, factor) : vmull_s16(vget_low_s16(v), vget_low_s16(factor));
  } else {
    product = vmulq_s32(high ? vmovl_high_s16(v) : vmovl_s16(vget_low_s16(v)), row.val[0]);
  }
  return vsubq_s32(product, row.val[1]);
}

EMBERT_INLINE int32x4_t normalise(int32x4_t centred, const int32x4x4_t& row, int32x4_t gain,
                                  int32x4_t bias, int32x4_t count) {
  const int32x4_t normal_q21 = vrshlq_s32(vqrdmulhq_s32(centred, row.val[2]), row.val[3]);
  return vrshlq_s32(vaddq_s32(vqrdmulhq_s32(vshlq_n_s32(normal_q21, 3), gain), bias), count);
}

struct Rows {
  const int16_t* src;
  int16_t* dst;
  size_t m;
};

// Of the columns c .. c + kN - 1.
template <bool kNarrow, size_t kN>
EMBERT_INLINE void normalise_columns(const LayerNormArgs& args, const Block& block,
                                     const Rows& rows, size_t c) {
  const int32x4_t count = vdupq_n_s32(7 - args.shift);
  int32x4_t gain[kN / 4], bias[kN / 4];
#pragma GCC unroll 8
  for (size_t v = 0; v < kN / 4; ++v) {
    gain[v] = vld1q_s32(args.gain + c + 4 * v);
    bias[v] = vld1q_s32(args.bias + c + 4 * v);
  }
  const int16_t* src = rows.src + c;
  int16_t* dst = rows.dst + c;
  for (size_t i = 0; i < rows.m; ++i, src += args.stride, dst += args.stride) {
    const int32x4x4_t row = vld4q_dup_s32(&block.rows[i].factor);
    int16x8_t x[kN / 8];
#pragma GCC unroll 4
    for (size_t v = 0; v < kN / 8; ++v) x[v] = vld1q_s16(src + 8 * v);
#pragma GCC unroll 4
    for (size_t v = 0; v < kN / 8; ++v) {
      const int32x4_t low =
          normalise(centred<kNarrow>(x[v], false, row), row, gain[2 * v], bias[2 * v], count);
      const int32x4_t high = normalise(centred<kNarrow>(x[v], true, row), row, gain[2 * v + 1],
                                       bias[2 * v + 1], count);
      x[v] = vqmovn_high_s32(vqmovn_s32(low), high);
    }
#pragma GCC unroll 4
    for (size_t v = 0; v < kN / 8; ++v) vst1q_s16(dst + 8 * v, x[v]);
  }
}

template <bool kNarrow>
void normalise_block(LayerNormArgs args, const Block& block, const Rows& rows) {
  const int32_t n = static_cast<int32_t>(args.n);
  size_t c = 0;
  for (; c + kColumns <= args.n; c += kColumns) {
    normalise_columns<kNarrow, kColumns>(args, block, rows, c);
  }
  if (c + 16 <= args.n) {
    normalise_columns<kNarrow, 16>(args, block, rows, c);
    c += 16;
  }
  for (; c < args.n; ++c) {
    for (size_t i = 0; i < rows.m; ++i) {
      const size_t at = i * args.stride + c;
      rows.dst[at] = static_cast<int16_t>(layernorm_value(
          rows.src[at], n, block.reference[i], {args.gain[c], args.bias[c], args.shift}));
    }
  }
}

}  // namespace

void layernorm_s16_neon(const LayerNormArgs& args) {
  for (size_t i = 0; i < args.m; i += kRows) {
    const Rows rows = {args.src + i * args.stride, args.dst + i * args.stride,
                       args.m - i < kRows ? args.m - i : kRows};
    Block block;
    prepare_block(args, rows.src, rows.m, &block);
    if (block.narrow) {
      normalise_block<true>(args, block, rows);
    } else {
      normalise_block<false>(args, block, rows);
    }
  }
}

}  // namespace embert
