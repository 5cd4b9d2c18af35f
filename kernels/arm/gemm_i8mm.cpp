// SPDX-License-Identifier: Apache-2.0
// SMMLA: 2 rows x 8 inputs times 2 columns x 8 inputs, tiles of up to 8 rows x 8 columns. Both
// operands are brought into its order once, in chunks on the stack: the rows of a block of 32 for
// all panels (ST2 of halves), the weights of a panel for all rows of a block (ST2 of words, which
// brings the two steps of a column together).
// An iteration (16 inputs) is 32 SMMLA for 1024 multiply-adds, and 4 loads of 4 registers.
#if !defined(__ARM_FEATURE_MATMUL_INT8)
#error "this file needs the flags of the cluster i8mm (isa_flags.cmake)"
#endif
#include "kernels/arm/lanes_neon.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

constexpr size_t kBlockRows = 32;
constexpr size_t kTilePairs = 4;  // pairs of rows
constexpr size_t kVectors = 4;    // pairs of columns in half a panel
constexpr size_t kGroup = 16;     // inputs of an iteration: two SMMLA deep
constexpr size_t kChunk = 1024;   // inputs
constexpr size_t kStepBytes = kPanelColumns * kStepInputs;

struct Operands {
  alignas(64) int8_t lhs[kBlockRows * kChunk];  // tiles of 2 P rows: [group][P][2][2 rows][8]
  alignas(64) int8_t rhs[2][8 * kChunk];        // halves of 8 columns: [group][2][4][2 columns][8]
};

// A pair of rows; step: bytes from group to group. What k lacks to whole groups becomes zero.
void pack_pair(const uint8_t* a, const uint8_t* b, size_t k, int8_t* dst, size_t step) {
  size_t c = 0;
  for (; c + kGroup <= k; c += kGroup, dst += step) {
    const int64x2x2_t rows = {
        {vreinterpretq_s64_u8(vld1q_u8(a + c)), vreinterpretq_s64_u8(vld1q_u8(b + c))}};
    vst2q_s64(reinterpret_cast<int64_t*>(dst), rows);
  }
  if (c < k) {
    uint8_t last[2][kGroup] = {};
    memcpy(last[0], a + c, k - c);
    memcpy(last[1], b + c, k - c);
    const int64x2x2_t rows = {
        {vreinterpretq_s64_u8(vld1q_u8(last[0])), vreinterpretq_s64_u8(vld1q_u8(last[1]))}};
    vst2q_s64(reinterpret_cast<int64_t*>(dst), rows);
  }
}

// Two steps of a panel to both halves, 4 columns a register.
EMBERT_INLINE void pack_steps(const int8_t* first, const int8_t* second, int8_t* low,
                              int8_t* high) {
#pragma GCC unroll 4
  for (size_t v = 0; v < 4; ++v) {
    const int32x4x2_t steps = {{vreinterpretq_s32_s8(vld1q_s8(first + 16 * v)),
                                vreinterpretq_s32_s8(vld1q_s8(second + 16 * v))}};
    vst2q_s32(reinterpret_cast<int32_t*>((v < 2 ? low : high) + v % 2 * 32), steps);
  }
}

void pack_weights(const int8_t* rhs, size_t k, int8_t* low, int8_t* high) {
  size_t c = 0;
  for (; c + kGroup <= k; c += kGroup, rhs += 4 * kStepBytes, low += 128, high += 128) {
    pack_steps(rhs, rhs + kStepBytes, low, high);
    pack_steps(rhs + 2 * kStepBytes, rhs + 3 * kStepBytes, low + 64, high + 64);
  }
  if (c < k) {
    int8_t last[4 * kStepBytes] = {};
    memcpy(last, rhs, (k - c) / kStepInputs * kStepBytes);
    pack_steps(last, last + kStepBytes, low, high);
    pack_steps(last + 2 * kStepBytes, last + 3 * kStepBytes, low + 64, high + 64);
  }
}

// Where a tile's sums come from and go to: 8 columns of some rows, the last pair may lack its
// second one.
struct Target {
  const int32_t* start;  // [8 columns, each pair twice], or null: what dst holds
  int32_t* dst;
  size_t stride;
  size_t rows;
};

template <size_t Pairs>
EMBERT_INLINE void add_group(int32x4_t (&sum)[Pairs][kVectors], const int8_t* lhs,
                             const int8_t* rhs) {
  int8x16_t inputs[Pairs][2];
#pragma GCC unroll 4
  for (size_t p = 0; p < Pairs; ++p) {
    const int8x16x2_t x = vld1q_s8_x2(lhs + 32 * p);
    inputs[p][0] = x.val[0];
    inputs[p][1] = x.val[1];
  }
#pragma GCC unroll 2
  for (size_t half = 0; half < 2; ++half) {
    const int8x16x4_t weights = vld1q_s8_x4(rhs + 64 * half);
#pragma GCC unroll 4
    for (size_t p = 0; p < Pairs; ++p) {
#pragma GCC unroll 4
      for (size_t v = 0; v < kVectors; ++v) {
        sum[p][v] = vmmlaq_s32(sum[p][v], inputs[p][half], weights.val[v]);
      }
    }
  }
}

EMBERT_INLINE int32x4_t first_halves(int32x4_t a, int32x4_t b) {
  return vreinterpretq_s32_s64(vzip1q_s64(vreinterpretq_s64_s32(a), vreinterpretq_s64_s32(b)));
}
EMBERT_INLINE int32x4_t second_halves(int32x4_t a, int32x4_t b) {
  return vreinterpretq_s32_s64(vzip2q_s64(vreinterpretq_s64_s32(a), vreinterpretq_s64_s32(b)));
}

template <size_t Pairs>
[[gnu::noinline]] void tile(const int8_t* lhs, const int8_t* rhs, size_t groups,
                            const Target& target) {
  int32x4_t sum[Pairs][kVectors];
#pragma GCC unroll 4
  for (size_t p = 0; p < Pairs; ++p) {
    if (target.start != nullptr) {
      const int32x4x4_t first = vld1q_s32_x4(target.start);
#pragma GCC unroll 4
      for (size_t v = 0; v < kVectors; ++v) sum[p][v] = first.val[v];
    } else {
      const int32_t* a = target.dst + 2 * p * target.stride;
      const int32_t* b = 2 * p + 1 < target.rows ? a + target.stride : a;
#pragma GCC unroll 2
      for (size_t v = 0; v < kVectors; v += 2) {
        const int32x4_t x = vld1q_s32(a + 2 * v), y = vld1q_s32(b + 2 * v);
        sum[p][v] = first_halves(x, y);
        sum[p][v + 1] = second_halves(x, y);
      }
    }
  }
  for (; groups >= 4; groups -= 4, lhs += 4 * 32 * Pairs, rhs += 512) {
    add_group<Pairs>(sum, lhs, rhs);
    add_group<Pairs>(sum, lhs + 32 * Pairs, rhs + 128);
    add_group<Pairs>(sum, lhs + 64 * Pairs, rhs + 256);
    add_group<Pairs>(sum, lhs + 96 * Pairs, rhs + 384);
  }
  for (; groups > 0; --groups, lhs += 32 * Pairs, rhs += 128) add_group<Pairs>(sum, lhs, rhs);
#pragma GCC unroll 4
  for (size_t p = 0; p < Pairs; ++p) {
    int32_t* dst = target.dst + 2 * p * target.stride;
    const int32x4x2_t a = {
        {first_halves(sum[p][0], sum[p][1]), first_halves(sum[p][2], sum[p][3])}};
    const int32x4x2_t b = {
        {second_halves(sum[p][0], sum[p][1]), second_halves(sum[p][2], sum[p][3])}};
    vst1q_s32_x2(dst, a);
    if (2 * p + 1 < target.rows) vst1q_s32_x2(dst + target.stride, b);
  }
}

void add_pairs(size_t pairs, const int8_t* lhs, const int8_t* rhs, size_t groups,
               const Target& target) {
  switch (pairs) {
    case 1:
      return tile<1>(lhs, rhs, groups, target);
    case 2:
      return tile<2>(lhs, rhs, groups, target);
    case 3:
      return tile<3>(lhs, rhs, groups, target);
    default:
      return tile<4>(lhs, rhs, groups, target);
  }
}

// What the sums of a panel start with: each pair of columns twice, as in a sum.
void panel_start(const GemmArgs& args, size_t j, int32_t* start) {
  const int32_t correction = lhs_correction(args.lhs_type);
  for (size_t c = 0; c < kPanelColumns; c += 4) {
    int32x4_t x = args.bias != nullptr ? vld1q_s32(args.bias + j + c) : vdupq_n_s32(0);
    if (correction != 0) x = vmlaq_n_s32(x, vld1q_s32(args.sums + j + c), correction);
    vst1q_s32(start + 2 * c, first_halves(x, x));
    vst1q_s32(start + 2 * c + 4, second_halves(x, x));
  }
}

// Rows of a block in tiles of 4 pairs, the last with what is left.
void pack_rows(const uint8_t* lhs, size_t stride, size_t rows, size_t k, int8_t* dst) {
  const size_t pairs = (rows + 1) / 2, groups = (k + kGroup - 1) / kGroup;
  for (size_t p = 0; p < pairs; ++p) {
    const size_t first = p / kTilePairs * kTilePairs;
    const size_t of_tile = pairs - first < kTilePairs ? pairs - first : kTilePairs;
    const uint8_t* a = lhs + 2 * p * stride;
    pack_pair(a, 2 * p + 1 < rows ? a + stride : a, k, dst + first * groups * 32 + (p - first) * 32,
              of_tile * 32);
  }
}

}  // namespace

void gemm_s32_n16k4_i8mm(const GemmArgs& args) {
  Operands operands;
  const size_t chunks = args.k > kChunk ? (args.k + kChunk - 1) / kChunk : 1;
  const size_t chunk_inputs = (args.k / chunks + kGroup - 1) / kGroup * kGroup;
  for (size_t i = 0; i < args.m; i += kBlockRows) {
    const size_t m = args.m - i < kBlockRows ? args.m - i : kBlockRows;
    for (size_t c = 0; c == 0 || c < args.k; c += chunk_inputs) {
      const size_t k = args.k - c < chunk_inputs ? args.k - c : chunk_inputs;
      const size_t groups = (k + kGroup - 1) / kGroup;
      pack_rows(args.lhs + i * args.lhs_stride + c, args.lhs_stride, m, k, operands.lhs);
      for (size_t j = 0; j < args.n; j += kPanelColumns) {
        int32_t start[2 * kPanelColumns];
        if (c == 0) panel_start(args, j, start);
        pack_weights(args.rhs + j * args.k + c * kPanelColumns, k, operands.rhs[0],
                     operands.rhs[1]);
        for (size_t half = 0; half < 2; ++half) {
          for (size_t row = 0; row < m; row += 2 * kTilePairs) {
            const size_t rows = m - row < 2 * kTilePairs ? m - row : 2 * kTilePairs;
            const Target target = {c == 0 ? start + 16 * half : nullptr,
                                   args.dst + (i + row) * args.dst_stride + j + 8 * half,
                                   args.dst_stride, rows};
            add_pairs((rows + 1) / 2, operands.lhs + row * groups * kGroup, operands.rhs[half],
                      groups, target);
          }
        }
      }
    }
  }
}

}  // namespace embert
