// SPDX-License-Identifier: Apache-2.0
// Queries, keys and values, 4 columns at a time. 4 inputs of a key are one word of a step, which a
// narrowing store writes; 4 columns of a value are scattered, one byte into each of 4 words. Keys
// and values may begin at any token, so the same functions append to a KV cache.
#include "kernels/helium/lanes_mve.hpp"
#include "kernels/variants.hpp"

namespace embert {

void requantize_query_mve(const RequantizeQueryArgs& all) {
  const RequantizeQueryArgs args = all;  // a copy, which no store can change
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    int8_t* dst = reinterpret_cast<int8_t*>(args.dst) + i * args.dst_stride;
    by_fours(args.n, [&](size_t c, auto lanes) {
      vstrbq_s32(dst + c, only(clamp4(columns4(args.factor, acc, c), -127, 127), lanes));
    });
  }
}

void requantize_key_n16k4_mve(const RequantizeKeyArgs& all) {
  const RequantizeKeyArgs args = all;  // a copy, which no store can change
  const size_t k = pad_inputs(args.n);
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    int8_t* dst = args.dst + n16k4_index(args.row0 + i, 0, k);
    int32_t sum = 0;
    by_fours(args.n, [&](size_t c, auto lanes) {
      const int32x4_t word = only(clamp4(columns4(args.factor, acc, c), -127, 127), lanes);
      vstrbq_s32(dst + c * kPanelColumns, word);
      sum = vaddvaq_s32(sum, word);
    });
    args.sums[args.row0 + i] = sum;
  }
}

namespace {

struct Planes {
  int32x4_t high, low;
};
// plane_high and plane_low of 4 values.
EMBERT_INLINE Planes planes4(int32x4_t v) {
  v = clamp4(v, -kValueBound, kValueBound);
  const int32x4_t high = vrshrq_n_s32(v, 8);
  return {high, vmaxq_s32(vsubq_s32(v, vshlq_n_s32(high, 8)), vdupq_n_s32(-127))};
}

}  // namespace

void requantize_query_s8x2_mve(const RequantizeQueryArgs& all) {
  const RequantizeQueryArgs args = all;  // a copy, which no store can change
  const size_t k = pad_inputs(args.n);
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    int8_t* first = reinterpret_cast<int8_t*>(args.dst) + 2 * i * args.dst_stride;
    int8_t* second = first + args.dst_stride;
    by_fours(args.n, [&](size_t c, auto lanes) {
      const Planes v = planes4(columns4(args.factor, acc, c));
      const int32x4_t high = only(v.high, lanes);
      vstrbq_s32(first + c, high);
      vstrbq_s32(first + k + c, vdupq_n_s32(0));
      vstrbq_s32(second + c, only(v.low, lanes));
      vstrbq_s32(second + k + c, high);
    });
  }
}

void requantize_key_s8x2_mve(const RequantizeKeyArgs& all) {
  const RequantizeKeyArgs args = all;  // a copy, which no store can change
  const size_t k = pad_inputs(args.n);
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    int8_t* dst = args.dst + n16k4_index(args.row0 + i, 0, 2 * k);
    int32_t sum = 0;
    by_fours(args.n, [&](size_t c, auto lanes) {
      const Planes v = planes4(columns4(args.factor, acc, c));
      const int32x4_t high = only(v.high, lanes), low = only(v.low, lanes);
      vstrbq_s32(dst + c * kPanelColumns, high);
      vstrbq_s32(dst + (k + c) * kPanelColumns, low);
      sum = vaddvaq_s32(vaddvaq_s32(sum, high), low);
    });
    args.sums[args.row0 + i] = sum;
  }
}

void requantize_value_n16k4_mve(const RequantizeValueArgs& all) {
  const RequantizeValueArgs args = all;
  const size_t columns = pad_columns(args.n), end = pad_inputs(args.row0 + args.m) - args.row0;
  const uint32x4_t steps = vidupq_n_u32(0, kStepInputs);
  for (size_t c = 0; c < columns; c += 4) {
    const int32x4_t multiplier = vldrwq_s32(args.factor.multiplier + c);
    int32x4_t high_sum = vdupq_n_s32(0), low_sum = high_sum;
    for (size_t i = 0; i < end; ++i) {
      Planes v = {vdupq_n_s32(0), vdupq_n_s32(0)};
      if (i < args.m) {
        const int32x4_t acc = vldrwq_s32(args.acc + i * args.acc_stride + c);
        v = planes4(requantize4(acc, multiplier, args.factor.left, args.factor.right));
      }
      vstrbq_scatter_offset_s32(args.dst + n16k4_index(c, args.row0 + i, args.k), steps, v.high);
      vstrbq_scatter_offset_s32(args.dst + n16k4_index(columns + c, args.row0 + i, args.k), steps,
                                v.low);
      high_sum = vaddq_s32(high_sum, v.high);
      low_sum = vaddq_s32(low_sum, v.low);
    }
    if (args.sums != nullptr) {
      if (args.row0 != 0) {
        high_sum = vaddq_s32(high_sum, vldrwq_s32(args.sums + c));
        low_sum = vaddq_s32(low_sum, vldrwq_s32(args.sums + columns + c));
      }
      vstrwq_s32(args.sums + c, high_sum);
      vstrwq_s32(args.sums + columns + c, low_sum);
    }
  }
}

}  // namespace embert
