// SPDX-License-Identifier: Apache-2.0
// SDOT by lane, tiles of up to 5 rows x 16 columns. 16 bytes of a row are 4 steps: one lane each.
// An iteration (4 steps) is 80 SDOT for 1280 multiply-adds, and 9 loads: 20 sums, 5 rows and 4
// weights in 29 registers.
#if !defined(__ARM_FEATURE_DOTPROD)
#error "this file needs the flags of the cluster dotprod (isa_flags.cmake)"
#endif
#include "kernels/arm/lanes_neon.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

constexpr size_t kTileRows = 5;
constexpr size_t kVectors = 4;  // of 4 columns in a panel
constexpr size_t kStepBytes = kPanelColumns * kStepInputs;
constexpr size_t kRun = 16;  // inputs of a register

template <size_t Rows, int kLane>
EMBERT_INLINE void add_step(int32x4_t (&sum)[Rows][kVectors], const int8x16_t (&inputs)[Rows],
                            const int8_t* rhs) {
  const int8x16x4_t weights = vld1q_s8_x4(rhs + kLane * kStepBytes);
#pragma GCC unroll 5
  for (size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) {
      sum[r][v] = vdotq_laneq_s32(sum[r][v], weights.val[v], inputs[r], kLane);
    }
  }
}

template <size_t Rows>
[[gnu::noinline]] void tile(const uint8_t* lhs, size_t lhs_stride, const int8_t* rhs, size_t k,
                            const int32_t* start, int32_t* dst, size_t dst_stride) {
  int32x4_t sum[Rows][kVectors];
  const int32x4x4_t first = vld1q_s32_x4(start);
#pragma GCC unroll 5
  for (size_t r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) sum[r][v] = first.val[v];
  }
  const int8_t* row[Rows];
#pragma GCC unroll 5
  for (size_t r = 0; r < Rows; ++r) row[r] = reinterpret_cast<const int8_t*>(lhs) + r * lhs_stride;
  size_t c = 0;
  for (; c + kRun <= k; c += kRun, rhs += 4 * kStepBytes) {
    int8x16_t inputs[Rows];
#pragma GCC unroll 5
    for (size_t r = 0; r < Rows; ++r) inputs[r] = vld1q_s8(row[r] + c);
    add_step<Rows, 0>(sum, inputs, rhs);
    add_step<Rows, 1>(sum, inputs, rhs);
    add_step<Rows, 2>(sum, inputs, rhs);
    add_step<Rows, 3>(sum, inputs, rhs);
  }
  for (; c < k; c += kStepInputs, rhs += kStepBytes) {
    int8x16_t inputs[Rows];
#pragma GCC unroll 5
    for (size_t r = 0; r < Rows; ++r) {
      inputs[r] = vreinterpretq_s8_s32(vld1q_dup_s32(reinterpret_cast<const int32_t*>(row[r] + c)));
    }
    add_step<Rows, 0>(sum, inputs, rhs);
  }
#pragma GCC unroll 5
  for (size_t r = 0; r < Rows; ++r) {
    const int32x4x4_t result = {{sum[r][0], sum[r][1], sum[r][2], sum[r][3]}};
    vst1q_s32_x4(dst + r * dst_stride, result);
  }
}

void add_rows(size_t rows, const uint8_t* lhs, size_t lhs_stride, const int8_t* rhs, size_t k,
              const int32_t* start, int32_t* dst, size_t dst_stride) {
  switch (rows) {
    case 1:
      return tile<1>(lhs, lhs_stride, rhs, k, start, dst, dst_stride);
    case 2:
      return tile<2>(lhs, lhs_stride, rhs, k, start, dst, dst_stride);
    case 3:
      return tile<3>(lhs, lhs_stride, rhs, k, start, dst, dst_stride);
    case 4:
      return tile<4>(lhs, lhs_stride, rhs, k, start, dst, dst_stride);
    default:
      return tile<5>(lhs, lhs_stride, rhs, k, start, dst, dst_stride);
  }
}

// What the sums of a panel start with.
void panel_start(const GemmArgs& args, size_t j, int32_t* start) {
  const int32_t correction = lhs_correction(args.lhs_type);
  for (size_t c = 0; c < kPanelColumns; c += 4) {
    int32x4_t x = args.bias != nullptr ? vld1q_s32(args.bias + j + c) : vdupq_n_s32(0);
    if (correction != 0) x = vmlaq_n_s32(x, vld1q_s32(args.sums + j + c), correction);
    vst1q_s32(start + c, x);
  }
}

}  // namespace

void gemm_s32_n16k4_dotprod(const GemmArgs& args) {
  for (size_t j = 0; j < args.n; j += kPanelColumns) {
    int32_t start[kPanelColumns];
    panel_start(args, j, start);
    size_t tiles = (args.m + kTileRows - 1) / kTileRows;
    for (size_t i = 0; i < args.m; --tiles) {
      const size_t rows = (args.m - i) / tiles;
      add_rows(rows, args.lhs + i * args.lhs_stride, args.lhs_stride, args.rhs + j * args.k, args.k,
               start, args.dst + i * args.dst_stride + j, args.dst_stride);
      i += rows;
    }
  }
}

}  // namespace embert
