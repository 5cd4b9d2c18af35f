// SPDX-License-Identifier: Apache-2.0
// SMMLA multiplies 2 rows x 8 inputs with 2 columns x 8 inputs; tiles have up to 12 rows x 8
// columns. Both operands are packed into the instruction's order on the stack, in chunks of inputs:
// a block of up to 32 rows, and as many panels as fit beside it. Weights in n8k16 have that order
// already. A dense layer in one step packs its rows once for all columns. Columns c and c + 4 are a
// pair, so that ST4 of words joins two steps of 8 columns into 4 registers, and ST4 stores a row of
// 8 sums from their lower halves. An iteration (128 inputs) of 12 rows is 384 SMMLA for 12288
// multiply-adds, 40 loads of 4 registers and 2 more instructions: 0.035 instructions a
// multiply-add, nothing spilled; of 8 rows it is 256 SMMLA, 32 loads and 2. SDOT multiplies a
// single row with n16k4, which needs no packing.
#if !defined(__ARM_FEATURE_MATMUL_INT8)
#error "this file needs the flags of i8mm (kernels/sources.cmake)"
#endif
#include "kernels/arm/gemm_i8mm.hpp"

#include "kernels/arm/lanes_neon.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

constexpr size_t kQuad = 4;        // rows that are packed together
constexpr size_t kUnrolled = 8;    // groups of an iteration
constexpr size_t kMaxPanels = 16;  // of a run

// Packed rows, in tiles of Q quads: [group][2][Q][4 rows][8]. Packed weights are n8k16 whose last
// group has zeros behind its inputs.

// Rows of the next tile: prefer 12; take 8 where 12 would leave 4 rows or fewer. All tiles but the
// last have whole quads.
size_t tile_rows(size_t left) {
  if (left <= 12) return left;
  return left <= 16 ? 8 : 12;
}
size_t least(size_t a, size_t b) { return a < b ? a : b; }
size_t quads_of(size_t rows) { return (rows + kQuad - 1) / kQuad; }

// Packs 4 rows, two groups at a time. step: bytes from one half of a group to the next.
int8_t* pack_quad(const uint8_t* const* row, size_t twos, int8_t* dst, size_t step) {
  const uint8_t *r0 = row[0], *r1 = row[1], *r2 = row[2], *r3 = row[3];
  asm volatile(
      ".macro embert_two_groups\n"
      "ldp q0, q4, [%[r0]], #32\n"
      "ldp q1, q5, [%[r1]], #32\n"
      "ldp q2, q6, [%[r2]], #32\n"
      "ldp q3, q7, [%[r3]], #32\n"
      "st4 {v0.d-v3.d}[0], [%[dst]], %[step]\n"
      "st4 {v0.d-v3.d}[1], [%[dst]], %[step]\n"
      "st4 {v4.d-v7.d}[0], [%[dst]], %[step]\n"
      "st4 {v4.d-v7.d}[1], [%[dst]], %[step]\n"
      ".endm\n"
      "subs %[twos], %[twos], #2\n"
      "b.lo 2f\n"
      "1:\n"
      "embert_two_groups\n"
      "embert_two_groups\n"
      "subs %[twos], %[twos], #2\n"
      "b.hs 1b\n"
      "2:\n"
      "tbz %[twos], #0, 3f\n"
      "embert_two_groups\n"
      "3:\n"
      ".purgem embert_two_groups\n"
      :
      [r0] "+r"(r0), [r1] "+r"(r1), [r2] "+r"(r2), [r3] "+r"(r3), [dst] "+r"(dst), [twos] "+r"(twos)
      : [step] "r"(step)
      : "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7");
  return dst;
}

// Packs up to 12 rows as a tile. The last row fills up its quad, zeros fill up the last group.
void pack_tile(const uint8_t* lhs, size_t stride, size_t rows, size_t k, int8_t* dst) {
  const size_t step = 32 * quads_of(rows), twos = k / (2 * kGroupInputs);
  for (size_t left = rows, quads = quads_of(rows); quads > 0; --quads, dst += 32) {
    const uint8_t* row[kQuad];
#pragma GCC unroll 4
    for (size_t r = 0; r < kQuad; ++r) {
      row[r] = lhs;
      if (left > 1) lhs += stride, --left;
    }
    int8_t* half = pack_quad(row, twos, dst, step);
    for (size_t c = twos * 2 * kGroupInputs; c < k; c += kGroupInputs, half += 2 * step) {
      uint8_t last[kQuad][kGroupInputs] = {};
      int64x2x4_t x;
#pragma GCC unroll 4
      for (size_t r = 0; r < kQuad; ++r) {
        const uint8_t* inputs = row[r] + c;
        if (k - c < kGroupInputs) inputs = static_cast<uint8_t*>(memcpy(last[r], inputs, k - c));
        x.val[r] = vreinterpretq_s64_u8(vld1q_u8(inputs));
      }
      vst4q_lane_s64(reinterpret_cast<int64_t*>(half), x, 0);
      vst4q_lane_s64(reinterpret_cast<int64_t*>(half + step), x, 1);
    }
  }
}

// Packs groups of a panel, 4 steps each, into both halves: each ST4 takes columns 0-3 and 4-7 of
// two steps.
void pack_groups(const int8_t* rhs, size_t groups, int8_t* low, int8_t* high) {
  size_t fours = groups / 4, rest = groups % 4;
  asm volatile(
      ".macro embert_group\n"
      "ldp q0, q2, [%[rhs]], #256\n"
      "ldp q16, q18, [%[rhs], #-224]\n"
      "ldp q1, q3, [%[rhs], #-192]\n"
      "ldp q17, q19, [%[rhs], #-160]\n"
      "ldp q4, q6, [%[rhs], #-128]\n"
      "ldp q20, q22, [%[rhs], #-96]\n"
      "ldp q5, q7, [%[rhs], #-64]\n"
      "ldp q21, q23, [%[rhs], #-32]\n"
      "st4 {v0.4s-v3.4s}, [%[low]], #64\n"
      "st4 {v16.4s-v19.4s}, [%[high]], #64\n"
      "st4 {v4.4s-v7.4s}, [%[low]], #64\n"
      "st4 {v20.4s-v23.4s}, [%[high]], #64\n"
      ".endm\n"
      "cbz %[fours], 2f\n"
      "1:\n"
      ".rept 4\n"
      "embert_group\n"
      ".endr\n"
      "subs %[fours], %[fours], #1\n"
      "b.ne 1b\n"
      "2:\n"
      "cbz %[rest], 4f\n"
      "3:\n"
      "embert_group\n"
      "subs %[rest], %[rest], #1\n"
      "b.ne 3b\n"
      "4:\n"
      ".purgem embert_group\n"
      : [rhs] "+r"(rhs), [low] "+r"(low), [high] "+r"(high), [fours] "+r"(fours), [rest] "+r"(rest)
      :
      : "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19",
        "v20", "v21", "v22", "v23");
}

// The chunk's inputs of the panel that begins with column j.
void pack_panel(const GemmArgs& args, const I8mmChunk& chunk, size_t j, int8_t* dst) {
  const size_t groups = chunk.k / kGroupInputs, left = chunk.k % kGroupInputs;
  const size_t half = groups * kGroupInputs * kHalfColumns;  // bytes
  const int8_t* panel = args.rhs + j * args.k;
  int8_t* high = dst + kHalfColumns * round_up(chunk.k, kGroupInputs);
  if (args.rhs_order == RhsOrder::kN8K16) {
    const size_t grouped = args.k / kGroupInputs * kGroupInputs;
    memcpy(dst, panel + kHalfColumns * chunk.c, half);
    memcpy(high, panel + kHalfColumns * (grouped + chunk.c), half);
  } else {
    pack_groups(panel + chunk.c * kPanelColumns, groups, dst, high);
  }
  if (left > 0) {  // the last inputs, which lie in the same place in both orders
    int8_t last[4 * kStepBytes] = {};
    memcpy(last, panel + (chunk.c + groups * kGroupInputs) * kPanelColumns, left * kPanelColumns);
    pack_groups(last, 1, dst + half, high + half);
  }
}

// The tiles of some rows with half panels.
struct Tiles {
  const int8_t* lhs;     // packed rows
  const int8_t* rhs;     // weights in n8k16
  size_t skipped;        // bytes from the end of a half panel to the next one
  size_t count;          // half panels
  size_t groups;         // of inputs
  const int32_t* start;  // [count][8] as prepare_start() writes it, or null: add to dst
  MatrixView<int32_t> dst;
};

// Tiles of kPairs pairs of rows. Registers: v0-v3 inputs, v4-v7 weights, v8-v31 sums, 4 of a pair.
// odd: the last pair is one row twice, and both write to the same row of dst. In assembly, because
// gcc 12 spills sums where registers come in lists of four.
template <int kPairs>
void multiply_pairs(bool odd, const Tiles& all) {
  static_assert(kPairs >= 1 && kPairs <= 6, "");
  const int8_t *inputs, *rhs = all.rhs;
  const int32_t* start = all.start;
  int32_t *row, *dst = all.dst.data;
  size_t count, tiles = all.count;
  const size_t stride_bytes = 4 * all.dst.stride;
  asm volatile(
      ".macro embert_mmla pair, s0, s1, s2, s3, x\n"
      ".if \\pair <= %c[pairs]\n"
      "smmla v\\s0\\().4s, v\\x\\().16b, v4.16b\n"
      "smmla v\\s1\\().4s, v\\x\\().16b, v5.16b\n"
      "smmla v\\s2\\().4s, v\\x\\().16b, v6.16b\n"
      "smmla v\\s3\\().4s, v\\x\\().16b, v7.16b\n"
      ".endif\n"
      ".endm\n"
      ".macro embert_load_weights\n"
      "ld1 {v4.16b-v7.16b}, [%[rhs]], #64\n"
      ".endm\n"
      ".macro embert_load_inputs\n"
      "ld1 {v0.16b-v3.16b}, [%[inputs]], #64\n"
      ".endm\n"
      ".macro embert_group\n"
      "embert_load_weights\n"
      "embert_load_inputs\n"
      "embert_mmla 1, 8, 9, 10, 11, 0\n"
      "embert_mmla 2, 12, 13, 14, 15, 1\n"
      ".if %c[pairs] <= 2\n"
      "embert_load_weights\n"
      "embert_mmla 1, 8, 9, 10, 11, 2\n"
      "embert_mmla 2, 12, 13, 14, 15, 3\n"
      ".else\n"
      "embert_mmla 3, 16, 17, 18, 19, 2\n"
      "embert_mmla 4, 20, 21, 22, 23, 3\n"
      "embert_load_inputs\n"
      ".if %c[pairs] <= 4\n"
      "embert_load_weights\n"
      "embert_mmla 1, 8, 9, 10, 11, 0\n"
      "embert_mmla 2, 12, 13, 14, 15, 1\n"
      "embert_mmla 3, 16, 17, 18, 19, 2\n"
      "embert_mmla 4, 20, 21, 22, 23, 3\n"
      ".else\n"
      "embert_mmla 5, 24, 25, 26, 27, 0\n"
      "embert_mmla 6, 28, 29, 30, 31, 1\n"
      "embert_load_weights\n"
      "embert_mmla 1, 8, 9, 10, 11, 2\n"
      "embert_mmla 2, 12, 13, 14, 15, 3\n"
      "embert_load_inputs\n"
      "embert_mmla 3, 16, 17, 18, 19, 0\n"
      "embert_mmla 4, 20, 21, 22, 23, 1\n"
      "embert_mmla 5, 24, 25, 26, 27, 2\n"
      "embert_mmla 6, 28, 29, 30, 31, 3\n"
      ".endif\n"
      ".endif\n"
      ".endm\n"
      // Stores or loads the sums of a pair: the lower halves of their registers, then the upper
      // ones.
      ".macro embert_rows operation, pair, first, last\n"
      ".if \\pair < %c[pairs]\n"
      "\\operation {v\\first\\().2s-v\\last\\().2s}, [%[row]], %[stride]\n"
      ".elseif \\pair == %c[pairs]\n"
      "\\operation {v\\first\\().2s-v\\last\\().2s}, [%[row]], %[last_stride]\n"
      ".endif\n"
      ".if \\pair <= %c[pairs]\n"
      "\\operation {v\\first\\().s-v\\last\\().s}[2], [%[row]], #16\n"
      "\\operation {v\\first\\().s-v\\last\\().s}[3], [%[row]], %[next]\n"
      ".endif\n"
      ".endm\n"
      ".macro embert_all_rows operation\n"
      "embert_rows \\operation, 1, 8, 11\n"
      "embert_rows \\operation, 2, 12, 15\n"
      "embert_rows \\operation, 3, 16, 19\n"
      "embert_rows \\operation, 4, 20, 23\n"
      "embert_rows \\operation, 5, 24, 27\n"
      "embert_rows \\operation, 6, 28, 31\n"
      ".endm\n"
      ".macro embert_start pair, first, last\n"
      ".if \\pair <= %c[pairs]\n"
      "ld4r {v\\first\\().2d-v\\last\\().2d}, [%[start]]\n"
      ".endif\n"
      ".endm\n"
      "0:\n"
      "mov %[inputs], %[lhs]\n"
      "cbz %[start], 5f\n"
      "embert_start 2, 12, 15\n"
      "embert_start 3, 16, 19\n"
      "embert_start 4, 20, 23\n"
      "embert_start 5, 24, 27\n"
      "embert_start 6, 28, 31\n"
      "ld4r {v8.2d-v11.2d}, [%[start]], #32\n"
      "6:\n"
      "cbz %[eights], 2f\n"
      "mov %[count], %[eights]\n"
      "1:\n"
      ".rept 8\n"
      "embert_group\n"
      ".endr\n"
      "subs %[count], %[count], #1\n"
      "b.ne 1b\n"
      "2:\n"
      "cbz %[rest], 4f\n"
      "mov %[count], %[rest]\n"
      "3:\n"
      "embert_group\n"
      "subs %[count], %[count], #1\n"
      "b.ne 3b\n"
      "4:\n"
      "mov %[row], %[dst]\n"
      "embert_all_rows st4\n"
      "add %[dst], %[dst], #32\n"
      "add %[rhs], %[rhs], %[skipped]\n"
      "subs %[tiles], %[tiles], #1\n"
      "b.ne 0b\n"
      "b 7f\n"
      "5:\n"
      "mov %[row], %[dst]\n"
      "embert_all_rows ld4\n"
      "b 6b\n"
      "7:\n"
      ".purgem embert_mmla\n"
      ".purgem embert_load_weights\n"
      ".purgem embert_load_inputs\n"
      ".purgem embert_group\n"
      ".purgem embert_rows\n"
      ".purgem embert_all_rows\n"
      ".purgem embert_start\n"
      : [inputs] "=&r"(inputs), [rhs] "+r"(rhs), [count] "=&r"(count), [row] "=&r"(row),
        [start] "+r"(start), [dst] "+r"(dst), [tiles] "+r"(tiles)
      : [lhs] "r"(all.lhs), [skipped] "r"(all.skipped), [eights] "r"(all.groups / kUnrolled),
        [rest] "r"(all.groups % kUnrolled), [stride] "r"(stride_bytes),
        [next] "r"(stride_bytes - 16), [last_stride] "r"(odd ? 0 : stride_bytes),
        [pairs] "i"(kPairs)
      : "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11",
        "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24",
        "v25", "v26", "v27", "v28", "v29", "v30", "v31");
}

void multiply(size_t rows, const Tiles& tiles) {
  const bool odd = rows % 2 != 0;
  switch ((rows + 1) / 2) {
    case 1:
      return multiply_pairs<1>(odd, tiles);
    case 2:
      return multiply_pairs<2>(odd, tiles);
    case 3:
      return multiply_pairs<3>(odd, tiles);
    case 4:
      return multiply_pairs<4>(odd, tiles);
    case 5:
      return multiply_pairs<5>(odd, tiles);
    default:
      return multiply_pairs<6>(odd, tiles);
  }
}

// The start of the sums of n columns, bias and correction, with columns c and c + 4 side by side.
void prepare_start(const GemmArgs& args, size_t j, size_t n, int32_t* start) {
  const int32_t correction = lhs_correction(args.lhs_type);
  if (args.bias == nullptr && correction == 0) {
    memset(start, 0, n * sizeof(int32_t));
    return;
  }
  for (size_t c = 0; c < n; c += kHalfColumns) {
    int32x4x2_t x = {};
    if (args.bias != nullptr) x = vld1q_s32_x2(args.bias + j + c);
    if (correction != 0) {
      const int32x4x2_t sums = vld1q_s32_x2(args.sums + j + c);
      x.val[0] = vmlaq_n_s32(x.val[0], sums.val[0], correction);
      x.val[1] = vmlaq_n_s32(x.val[1], sums.val[1], correction);
    }
    vst2q_s32(start + c, x);
  }
}

// Of packed rows and weights.
size_t packed_inputs(const I8mmChunk& chunk) { return round_up(chunk.k, kGroupInputs); }
size_t packed_rows_bytes(const I8mmChunk& chunk) {
  return round_up(chunk.m, kQuad) * packed_inputs(chunk);
}

}  // namespace

size_t i8mm_most_inputs(size_t m) {
  return kI8mmBytes / (round_up(m, kQuad) + kPanelColumns) / kGroupInputs * kGroupInputs;
}

size_t i8mm_most_columns(const I8mmChunk& chunk) {
  const size_t panel = kPanelColumns * packed_inputs(chunk);
  return kPanelColumns * least((kI8mmBytes - packed_rows_bytes(chunk)) / panel, kMaxPanels);
}

void i8mm_pack_rows(const GemmArgs& args, const I8mmChunk& chunk) {
  for (size_t row = 0; row < chunk.m; row += tile_rows(chunk.m - row)) {
    pack_tile(args.lhs + (chunk.i + row) * args.lhs_stride + chunk.c, args.lhs_stride,
              tile_rows(chunk.m - row), chunk.k, chunk.packed + row * packed_inputs(chunk));
  }
}

void i8mm_multiply(const GemmArgs& args, const I8mmChunk& chunk, size_t j, size_t n, int32_t* dst) {
  const size_t inputs = packed_inputs(chunk);
  // Weights in n8k16 are multiplied where they are, if their inputs are whole groups.
  const bool in_place = args.rhs_order == RhsOrder::kN8K16 && args.k % kGroupInputs == 0;
  int8_t* packed = chunk.packed + packed_rows_bytes(chunk);
  int32_t start[kMaxPanels * kPanelColumns];
  if (chunk.c == 0) prepare_start(args, j, n, start);
  if (!in_place) {
    for (size_t column = 0; column < n; column += kPanelColumns) {
      pack_panel(args, chunk, j + column, packed + column * inputs);
    }
  }
  for (size_t row = 0; row < chunk.m; row += tile_rows(chunk.m - row)) {
    multiply(tile_rows(chunk.m - row),
             {.lhs = chunk.packed + row * inputs,
              .rhs = in_place ? args.rhs + j * args.k + kHalfColumns * chunk.c : packed,
              .skipped = in_place ? kHalfColumns * (args.k - chunk.k) : 0,
              .count = n / kHalfColumns,
              .groups = inputs / kGroupInputs,
              .start = chunk.c == 0 ? start : nullptr,
              .dst = {dst + row * args.dst_stride, args.dst_stride}});
  }
}

void gemm_s32_n16k4_i8mm(const GemmArgs& all) {
  if (all.m == 1 && all.rhs_order == RhsOrder::kN16K4) return gemm_s32_n16k4_dotprod(all);
  const GemmArgs args = all;  // a copy, which no store can change
  alignas(64) int8_t packed[kI8mmBytes];
  for (size_t i = 0; i < args.m; i += kI8mmRows) {
    const size_t m = least(kI8mmRows, args.m - i), most = i8mm_most_inputs(m);
    const size_t chunks = (args.k + most - 1) / most;
    const size_t inputs = round_up((args.k + chunks - 1) / chunks, kGroupInputs);
    for (size_t c = 0; c < args.k; c += inputs) {
      const I8mmChunk chunk = {i, m, c, least(inputs, args.k - c), packed};
      i8mm_pack_rows(args, chunk);
      const size_t run = i8mm_most_columns(chunk);
      for (size_t j = 0; j < args.n; j += run) {
        i8mm_multiply(args, chunk, j, least(run, args.n - j), args.dst + i * args.dst_stride + j);
      }
    }
  }
}

}  // namespace embert
