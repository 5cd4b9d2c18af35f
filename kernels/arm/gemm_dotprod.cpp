// SPDX-License-Identifier: Apache-2.0
// SDOT by lane, tiles of 6 or 4 rows x 16 columns. The rows of a tile are packed once for all
// panels, the words of a step side by side. An iteration (32 steps) of 6 rows is 768 SDOT for 12288
// multiply-adds, 44 loads of 4 registers and 2 more instructions: 0.066 instructions for each,
// nothing spilled; of 4 rows it is 512 SDOT, 40 loads and 2. The last rows, fewer than 4, are read
// in place. The two SDOT pipes of Neoverse N1, the server core of Cortex-A76, take 384 cycles for
// an iteration of 6 rows, and all of it 384.2 (llvm-mca 19).
#if !defined(__ARM_FEATURE_DOTPROD)
#error "this file needs the flags of dotprod (kernels/sources.cmake)"
#endif
#include "kernels/arm/gemm_dotprod.hpp"

#include "kernels/arm/lanes_neon.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

constexpr size_t kVectors = 4;  // of 4 columns in a panel
constexpr size_t kRun = 16;     // inputs of a register

// The right operand of one panel or of several, one behind the other.
struct Panels {
  const int8_t* rhs;     // n16k4
  size_t k;              // inputs
  const int32_t* start;  // [16] for each: the sums' start
};

template <size_t Rows, int kLane>
EMBERT_INLINE void add_step(int32x4_t (&sum)[Rows][kVectors], const int8x16_t (&inputs)[Rows],
                            const int8_t* rhs) {
  const int8x16x4_t weights = vld1q_s8_x4(rhs + kLane * kStepBytes);
#pragma GCC unroll 3
  for (size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) {
      sum[r][v] = vdotq_laneq_s32(sum[r][v], weights.val[v], inputs[r], kLane);
    }
  }
}

template <size_t Rows>
[[gnu::noinline]] void tile(MatrixView<const uint8_t> lhs, const int8_t* rhs, size_t k,
                            const int32_t* start, MatrixView<int32_t> dst) {
  int32x4_t sum[Rows][kVectors];
  const int32x4x4_t first = vld1q_s32_x4(start);
#pragma GCC unroll 3
  for (size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) sum[r][v] = first.val[v];
  }
  const int8_t* row[Rows];
#pragma GCC unroll 3
  for (size_t r = 0; r < Rows; ++r)
    row[r] = reinterpret_cast<const int8_t*>(lhs.data) + r * lhs.stride;
  size_t c = 0;
  for (; c + kRun <= k; c += kRun, rhs += 4 * kStepBytes) {
    int8x16_t inputs[Rows];
#pragma GCC unroll 3
    for (size_t r = 0; r < Rows; ++r) inputs[r] = vld1q_s8(row[r] + c);
    add_step<Rows, 0>(sum, inputs, rhs);
    add_step<Rows, 1>(sum, inputs, rhs);
    add_step<Rows, 2>(sum, inputs, rhs);
    add_step<Rows, 3>(sum, inputs, rhs);
  }
  for (; c < k; c += kStepInputs, rhs += kStepBytes) {
    int8x16_t inputs[Rows];
#pragma GCC unroll 3
    for (size_t r = 0; r < Rows; ++r) {
      inputs[r] = vreinterpretq_s8_s32(vld1q_dup_s32(reinterpret_cast<const int32_t*>(row[r] + c)));
    }
    add_step<Rows, 0>(sum, inputs, rhs);
  }
#pragma GCC unroll 3
  for (size_t r = 0; r < Rows; ++r) {
    const int32x4x4_t result = {{sum[r][0], sum[r][1], sum[r][2], sum[r][3]}};
    vst1q_s32_x4(dst.data + r * dst.stride, result);
  }
}

// Packs the inputs behind the first c of some rows, a step at a time.
template <size_t Rows>
void pack_rest(MatrixView<const uint8_t> rows, size_t c, size_t k, int32_t* dst) {
  for (; c < k; c += kStepInputs, dst += Rows) {
    for (size_t row = 0; row < Rows; ++row) {
      memcpy(dst + row, rows.data + row * rows.stride + c, kStepInputs);
    }
  }
}

// Packs 4 rows: ST4 puts the words of 4 steps side by side. Two runs at a time, as LDP loads two
// registers.
void pack_4(MatrixView<const uint8_t> rows, size_t k, int32_t* dst) {
  const uint8_t *r0 = rows.data, *r1 = r0 + rows.stride;
  const uint8_t *r2 = r1 + rows.stride, *r3 = r2 + rows.stride;
  const size_t twos = k / (2 * kRun);
  if (twos > 0) {
    size_t left = twos;
    asm volatile(
        "1:\n"
        "ldp q0, q4, [%[r0]], #32\n"
        "ldp q1, q5, [%[r1]], #32\n"
        "ldp q2, q6, [%[r2]], #32\n"
        "ldp q3, q7, [%[r3]], #32\n"
        "st4 {v0.4s-v3.4s}, [%[dst]], #64\n"
        "st4 {v4.4s-v7.4s}, [%[dst]], #64\n"
        "subs %[left], %[left], #1\n"
        "b.ne 1b\n"
        : [r0] "+r"(r0), [r1] "+r"(r1), [r2] "+r"(r2), [r3] "+r"(r3), [dst] "+r"(dst),
          [left] "+r"(left)
        :
        : "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7");
  }
  pack_rest<4>(rows, 2 * kRun * twos, k, dst);
}

// Packs 6 rows: ZIP makes pairs of words, ST3 puts those of two steps side by side.
void pack_6(MatrixView<const uint8_t> rows, size_t k, int32_t* dst) {
  const uint8_t *r0 = rows.data, *r1 = r0 + rows.stride, *r2 = r1 + rows.stride;
  const uint8_t *r3 = r2 + rows.stride, *r4 = r3 + rows.stride, *r5 = r4 + rows.stride;
  const size_t twos = k / (2 * kRun);
  if (twos > 0) {
    size_t left = twos;
    asm volatile(
        ".macro embert_two_steps zip, x0, x1, x2, x3, x4, x5\n"
        "\\zip v24.4s, v\\x0\\().4s, v\\x1\\().4s\n"
        "\\zip v25.4s, v\\x2\\().4s, v\\x3\\().4s\n"
        "\\zip v26.4s, v\\x4\\().4s, v\\x5\\().4s\n"
        "st3 {v24.2d-v26.2d}, [%[dst]], #48\n"
        ".endm\n"
        "1:\n"
        "ldp q0, q16, [%[r0]], #32\n"
        "ldp q1, q17, [%[r1]], #32\n"
        "ldp q2, q18, [%[r2]], #32\n"
        "ldp q3, q19, [%[r3]], #32\n"
        "ldp q4, q20, [%[r4]], #32\n"
        "ldp q5, q21, [%[r5]], #32\n"
        "embert_two_steps zip1, 0, 1, 2, 3, 4, 5\n"
        "embert_two_steps zip2, 0, 1, 2, 3, 4, 5\n"
        "embert_two_steps zip1, 16, 17, 18, 19, 20, 21\n"
        "embert_two_steps zip2, 16, 17, 18, 19, 20, 21\n"
        "subs %[left], %[left], #1\n"
        "b.ne 1b\n"
        ".purgem embert_two_steps\n"
        : [r0] "+r"(r0), [r1] "+r"(r1), [r2] "+r"(r2), [r3] "+r"(r3), [r4] "+r"(r4), [r5] "+r"(r5),
          [dst] "+r"(dst), [left] "+r"(left)
        :
        : "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v16", "v17", "v18", "v19", "v20",
          "v21", "v24", "v25", "v26");
  }
  pack_rest<6>(rows, 2 * kRun * twos, k, dst);
}

// Tiles of 4 rows with all panels. Registers: v0-v3 and v8-v11 weights of a step, v4-v7 and v12-v15
// inputs of 4 steps, v16-v31 sums, 4 of a row. Loads run one step ahead of their use, because cores
// that run in order would wait. Where k is 32, as in the scores of heads of 32, the inputs stay in
// their registers for all panels: 6 % fewer cycles on Cortex-A510, 8 % on A55 (llvm-mca 19). In
// assembly, because gcc 12 spills sums where registers come in lists of four.
void tiles_4(size_t count, const int32_t* lhs, const Panels& panels, MatrixView<int32_t> view) {
  const int8_t* rhs = panels.rhs;
  const int32_t* start = panels.start;
  int32_t* dst = view.data;
  const int32_t* inputs;
  const size_t steps = panels.k / kStepInputs, eights = steps / 8, stride = 4 * view.stride;
  // The loop ends when inputs point here: 8 steps are left, and their first half is loaded.
  const int32_t* last_eight = eights > 0 ? lhs + 32 * eights - 16 : lhs;
  size_t left;
  asm volatile(
      ".macro embert_row s0, s1, s2, s3, w0, w1, w2, w3, x, lane\n"
      "sdot v\\s0\\().4s, v\\w0\\().16b, v\\x\\().4b[\\lane]\n"
      "sdot v\\s1\\().4s, v\\w1\\().16b, v\\x\\().4b[\\lane]\n"
      "sdot v\\s2\\().4s, v\\w2\\().16b, v\\x\\().4b[\\lane]\n"
      "sdot v\\s3\\().4s, v\\w3\\().16b, v\\x\\().4b[\\lane]\n"
      ".endm\n"
      ".macro embert_step w0, w1, w2, w3, x\n"
      "embert_row 16, 17, 18, 19, \\w0, \\w1, \\w2, \\w3, \\x, 0\n"
      "embert_row 20, 21, 22, 23, \\w0, \\w1, \\w2, \\w3, \\x, 1\n"
      "embert_row 24, 25, 26, 27, \\w0, \\w1, \\w2, \\w3, \\x, 2\n"
      "embert_row 28, 29, 30, 31, \\w0, \\w1, \\w2, \\w3, \\x, 3\n"
      ".endm\n"
      // 8 steps, each loading the weights of the next. last: no step follows. kept: the inputs of
      // all steps are loaded.
      ".macro embert_eight last, kept\n"
      "ld1 {v8.16b-v11.16b}, [%[rhs]], #64\n"
      ".ifeq \\kept\n"
      "ld1 {v12.4s-v15.4s}, [%[inputs]], #64\n"
      ".endif\n"
      "embert_step 0, 1, 2, 3, 4\n"
      "ld1 {v0.16b-v3.16b}, [%[rhs]], #64\n"
      "embert_step 8, 9, 10, 11, 5\n"
      "ld1 {v8.16b-v11.16b}, [%[rhs]], #64\n"
      "embert_step 0, 1, 2, 3, 6\n"
      "ld1 {v0.16b-v3.16b}, [%[rhs]], #64\n"
      "embert_step 8, 9, 10, 11, 7\n"
      "ld1 {v8.16b-v11.16b}, [%[rhs]], #64\n"
      ".ifeq \\last\n"
      "ld1 {v4.4s-v7.4s}, [%[inputs]], #64\n"
      ".endif\n"
      "embert_step 0, 1, 2, 3, 12\n"
      "ld1 {v0.16b-v3.16b}, [%[rhs]], #64\n"
      "embert_step 8, 9, 10, 11, 13\n"
      "ld1 {v8.16b-v11.16b}, [%[rhs]], #64\n"
      "embert_step 0, 1, 2, 3, 14\n"
      ".ifeq \\last\n"
      "ld1 {v0.16b-v3.16b}, [%[rhs]], #64\n"
      ".endif\n"
      "embert_step 8, 9, 10, 11, 15\n"
      ".endm\n"
      ".macro embert_start\n"
      "ld1 {v16.4s-v19.4s}, [%[start]]\n"
      "ld1 {v20.4s-v23.4s}, [%[start]]\n"
      "ld1 {v24.4s-v27.4s}, [%[start]]\n"
      "ld1 {v28.4s-v31.4s}, [%[start]], #64\n"
      ".endm\n"
      ".macro embert_store\n"
      "st1 {v16.4s-v19.4s}, [%[dst]], %[stride]\n"
      "st1 {v20.4s-v23.4s}, [%[dst]], %[stride]\n"
      "st1 {v24.4s-v27.4s}, [%[dst]], %[stride]\n"
      "st1 {v28.4s-v31.4s}, [%[dst]], %[next]\n"
      ".endm\n"
      "cbnz %[kept], 10f\n"
      "0:\n"
      "embert_start\n"
      "mov %[inputs], %[lhs]\n"
      "cbz %[eights], 7f\n"
      "ld1 {v0.16b-v3.16b}, [%[rhs]], #64\n"
      "ld1 {v4.4s-v7.4s}, [%[inputs]], #64\n"
      // All but the last of `eights`, 4 an iteration: the first iteration begins where it has to.
      "cbz %[but_last], 6f\n"
      "tbnz %[but_last], #1, 5f\n"
      "tbnz %[but_last], #0, 4f\n"
      "1:\n"
      "embert_eight 0, 0\n"
      "2:\n"
      "embert_eight 0, 0\n"
      "3:\n"
      "embert_eight 0, 0\n"
      "4:\n"
      "embert_eight 0, 0\n"
      "cmp %[inputs], %[last_eight]\n"
      "b.ne 1b\n"
      "b 6f\n"
      "5:\n"
      "tbnz %[but_last], #0, 2b\n"
      "b 3b\n"
      "6:\n"
      "embert_eight 1, 0\n"
      "7:\n"
      "cbz %[rest], 9f\n"
      "mov %[left], %[rest]\n"
      "8:\n"
      "ld1 {v0.16b-v3.16b}, [%[rhs]], #64\n"
      "ldr q4, [%[inputs]], #16\n"
      "embert_step 0, 1, 2, 3, 4\n"
      "subs %[left], %[left], #1\n"
      "b.ne 8b\n"
      "9:\n"
      "embert_store\n"
      "subs %[panels], %[panels], #1\n"
      "b.ne 0b\n"
      "b 12f\n"
      "10:\n"
      "mov %[inputs], %[lhs]\n"
      "ld1 {v4.4s-v7.4s}, [%[inputs]], #64\n"
      "ld1 {v12.4s-v15.4s}, [%[inputs]]\n"
      "11:\n"
      "embert_start\n"
      "ld1 {v0.16b-v3.16b}, [%[rhs]], #64\n"
      "embert_eight 1, 1\n"
      "embert_store\n"
      "subs %[panels], %[panels], #1\n"
      "b.ne 11b\n"
      "12:\n"
      ".purgem embert_row\n"
      ".purgem embert_step\n"
      ".purgem embert_eight\n"
      ".purgem embert_start\n"
      ".purgem embert_store\n"
      : [inputs] "=&r"(inputs), [rhs] "+&r"(rhs), [left] "=&r"(left), [start] "+&r"(start),
        [dst] "+&r"(dst), [panels] "+&r"(count)
      : [lhs] "r"(lhs), [eights] "r"(eights), [but_last] "r"(eights - 1),
        [kept] "r"(size_t{steps == 8}), [last_eight] "r"(last_eight), [rest] "r"(steps % 8),
        [stride] "r"(stride), [next] "r"(64 - 3 * stride)
      : "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11",
        "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24",
        "v25", "v26", "v27", "v28", "v29", "v30", "v31");
}

// Tiles of 6 rows with all panels. Registers: v0-v3 weights of a step, v4-v7 inputs, 16 words of
// the 48 of 8 steps, v8-v31 sums, 4 of a row. No register is left for loads ahead of their use; 24
// SDOT behind each load of weights make up for it also on cores that run in order: 229 cycles for
// 128 SDOT on A55, 230 in tiles of 4 rows (llvm-mca 19).
void tiles_6(size_t count, const int32_t* lhs, const Panels& panels, MatrixView<int32_t> view) {
  const int8_t* rhs = panels.rhs;
  const int32_t* start = panels.start;
  int32_t* dst = view.data;
  const int32_t* inputs;
  const size_t steps = panels.k / kStepInputs, stride = 4 * view.stride;
  size_t left;
  asm volatile(
      ".macro embert_row s0, s1, s2, s3, x, lane\n"
      "sdot v\\s0\\().4s, v0.16b, v\\x\\().4b[\\lane]\n"
      "sdot v\\s1\\().4s, v1.16b, v\\x\\().4b[\\lane]\n"
      "sdot v\\s2\\().4s, v2.16b, v\\x\\().4b[\\lane]\n"
      "sdot v\\s3\\().4s, v3.16b, v\\x\\().4b[\\lane]\n"
      ".endm\n"
      ".macro embert_load_inputs\n"
      "ld1 {v4.4s-v7.4s}, [%[inputs]], #64\n"
      ".endm\n"
      // A step whose words are lanes 0-3 of x and 0-1 of y. Behind v7 come the next 16 words.
      ".macro embert_even x, y\n"
      "ld1 {v0.16b-v3.16b}, [%[rhs]], #64\n"
      "embert_row 8, 9, 10, 11, \\x, 0\n"
      "embert_row 12, 13, 14, 15, \\x, 1\n"
      "embert_row 16, 17, 18, 19, \\x, 2\n"
      "embert_row 20, 21, 22, 23, \\x, 3\n"
      ".ifeq \\x - 7\n"
      "embert_load_inputs\n"
      ".endif\n"
      "embert_row 24, 25, 26, 27, \\y, 0\n"
      "embert_row 28, 29, 30, 31, \\y, 1\n"
      ".endm\n"
      // Lanes 2-3 of x and 0-3 of y.
      ".macro embert_odd x, y\n"
      "ld1 {v0.16b-v3.16b}, [%[rhs]], #64\n"
      "embert_row 8, 9, 10, 11, \\x, 2\n"
      "embert_row 12, 13, 14, 15, \\x, 3\n"
      ".ifeq \\x - 7\n"
      "embert_load_inputs\n"
      ".endif\n"
      "embert_row 16, 17, 18, 19, \\y, 0\n"
      "embert_row 20, 21, 22, 23, \\y, 1\n"
      "embert_row 24, 25, 26, 27, \\y, 2\n"
      "embert_row 28, 29, 30, 31, \\y, 3\n"
      ".endm\n"
      ".macro embert_eight\n"
      "embert_load_inputs\n"
      "embert_even 4, 5\n"
      "embert_odd 5, 6\n"
      "embert_even 7, 4\n"
      "embert_odd 4, 5\n"
      "embert_even 6, 7\n"
      "embert_odd 7, 4\n"
      "embert_even 5, 6\n"
      "embert_odd 6, 7\n"
      ".endm\n"
      "0:\n"
      "ld1 {v8.4s-v11.4s}, [%[start]]\n"
      "ld1 {v12.4s-v15.4s}, [%[start]]\n"
      "ld1 {v16.4s-v19.4s}, [%[start]]\n"
      "ld1 {v20.4s-v23.4s}, [%[start]]\n"
      "ld1 {v24.4s-v27.4s}, [%[start]]\n"
      "ld1 {v28.4s-v31.4s}, [%[start]], #64\n"
      "mov %[inputs], %[lhs]\n"
      "lsr %[left], %[steps], #5\n"
      "cbz %[left], 2f\n"
      "1:\n"
      ".rept 4\n"
      "embert_eight\n"
      ".endr\n"
      "subs %[left], %[left], #1\n"
      "b.ne 1b\n"
      "2:\n"
      "ands %[left], %[steps], #24\n"
      "b.eq 4f\n"
      "3:\n"
      "embert_eight\n"
      "subs %[left], %[left], #8\n"
      "b.ne 3b\n"
      "4:\n"
      "ands %[left], %[steps], #7\n"
      "b.eq 6f\n"
      "5:\n"
      "ldr q4, [%[inputs]], #16\n"
      "ldr d5, [%[inputs]], #8\n"
      "embert_even 4, 5\n"
      "subs %[left], %[left], #1\n"
      "b.ne 5b\n"
      "6:\n"
      "st1 {v8.4s-v11.4s}, [%[dst]], %[stride]\n"
      "st1 {v12.4s-v15.4s}, [%[dst]], %[stride]\n"
      "st1 {v16.4s-v19.4s}, [%[dst]], %[stride]\n"
      "st1 {v20.4s-v23.4s}, [%[dst]], %[stride]\n"
      "st1 {v24.4s-v27.4s}, [%[dst]], %[stride]\n"
      "st1 {v28.4s-v31.4s}, [%[dst]], %[next]\n"
      "subs %[panels], %[panels], #1\n"
      "b.ne 0b\n"
      ".purgem embert_row\n"
      ".purgem embert_load_inputs\n"
      ".purgem embert_even\n"
      ".purgem embert_odd\n"
      ".purgem embert_eight\n"
      : [inputs] "=&r"(inputs), [rhs] "+&r"(rhs), [left] "=&r"(left), [start] "+&r"(start),
        [dst] "+&r"(dst), [panels] "+&r"(count)
      : [lhs] "r"(lhs), [steps] "r"(steps), [stride] "r"(stride), [next] "r"(64 - 5 * stride)
      : "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11",
        "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24",
        "v25", "v26", "v27", "v28", "v29", "v30", "v31");
}

void last_rows(size_t rows, MatrixView<const uint8_t> lhs, const Panels& panel,
               MatrixView<int32_t> dst) {
  switch (rows) {
    case 1:
      return tile<1>(lhs, panel.rhs, panel.k, panel.start, dst);
    case 2:
      return tile<2>(lhs, panel.rhs, panel.k, panel.start, dst);
    default:
      return tile<3>(lhs, panel.rhs, panel.k, panel.start, dst);
  }
}

// The start of the sums of n columns, bias and correction: returns the bias itself or start.
const int32_t* prepare_start(const GemmArgs& args, size_t j, size_t n, int32_t* start) {
  const int32_t correction = lhs_correction(args.lhs_type);
  if (correction == 0 && args.bias != nullptr) return args.bias + j;
  if (correction == 0) return static_cast<const int32_t*>(memset(start, 0, n * sizeof(int32_t)));
  for (size_t c = 0; c < n; c += kPanelColumns) {
    const int32x4x4_t sums = vld1q_s32_x4(args.sums + j + c);
    int32x4x4_t x = {};
    if (args.bias != nullptr) x = vld1q_s32_x4(args.bias + j + c);
#pragma GCC unroll 4
    for (size_t v = 0; v < 4; ++v) x.val[v] = vmlaq_n_s32(x.val[v], sums.val[v], correction);
    vst1q_s32_x4(start + c, x);
  }
  return start;
}

// The tiles of m rows of k inputs: as many of 6 rows as leave whole tiles of 4 and at most one row;
// 3 rows or fewer have none. With 32 inputs all have 4 rows, whose inputs stay in registers.
struct Tiles {
  size_t sixes, fours;
};
Tiles tiles_of(size_t m, size_t k) {
  if (m < 4) return {0, 0};
  if (k == 8 * kStepInputs) return {0, m / 4};
  const size_t even = m / 2 * 2, fours = even % 3;  // 6 divides even - 4 * fours
  return {(even - 4 * fours) / 6, fours};
}

}  // namespace

void dotprod_pack_rows(const GemmArgs& args, int32_t* packed) {
  const Tiles tiles = tiles_of(args.m, args.k);
  const size_t steps = args.k / kStepInputs;
  MatrixView<const uint8_t> rows = {args.lhs, args.lhs_stride};
  for (size_t i = 0; i < tiles.sixes; ++i, packed += 6 * steps, rows.data += 6 * rows.stride) {
    pack_6(rows, args.k, packed);
  }
  for (size_t i = 0; i < tiles.fours; ++i, packed += 4 * steps, rows.data += 4 * rows.stride) {
    pack_4(rows, args.k, packed);
  }
}

void dotprod_multiply(const GemmArgs& args, const int32_t* packed, size_t j, size_t n,
                      int32_t* dst) {
  int32_t zeros_or_sums[kDotprodColumns];
  const Panels panels = {args.rhs + j * args.k, args.k, prepare_start(args, j, n, zeros_or_sums)};
  const Tiles tiles = tiles_of(args.m, args.k);
  const size_t steps = args.k / kStepInputs, stride = args.dst_stride;
  for (size_t i = 0; i < tiles.sixes; ++i, packed += 6 * steps, dst += 6 * stride) {
    tiles_6(n / kPanelColumns, packed, panels, {dst, stride});
  }
  for (size_t i = 0; i < tiles.fours; ++i, packed += 4 * steps, dst += 4 * stride) {
    tiles_4(n / kPanelColumns, packed, panels, {dst, stride});
  }
  const size_t done = 6 * tiles.sixes + 4 * tiles.fours;
  if (done == args.m) return;
  for (size_t c = 0; c < n; c += kPanelColumns) {
    last_rows(args.m - done, {args.lhs + done * args.lhs_stride, args.lhs_stride},
              {panels.rhs + c * args.k, args.k, panels.start + c}, {dst + c, stride});
  }
}

void gemm_s32_n16k4_dotprod(const GemmArgs& args) {
  int32_t packed[kDotprodBytes / sizeof(int32_t)];
  // Rows of a chunk: as many as fit, even, so that only the last chunk can leave one over.
  const size_t most = kDotprodBytes / args.k / 2 * 2;
  for (size_t i = 0; i < args.m; i += most) {
    GemmArgs chunk = args;
    chunk.m = args.m - i < most ? args.m - i : most;
    chunk.lhs += i * args.lhs_stride;
    chunk.dst += i * args.dst_stride;
    dotprod_pack_rows(chunk, packed);
    for (size_t j = 0; j < args.n; j += kDotprodColumns) {
      const size_t n = args.n - j < kDotprodColumns ? args.n - j : kDotprodColumns;
      dotprod_multiply(chunk, packed, j, n, chunk.dst + j);
    }
  }
}

}  // namespace embert
