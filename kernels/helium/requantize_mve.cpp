// SPDX-License-Identifier: Apache-2.0
// Queries, context and the sum with the residual on 4 columns.
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

void requantize_context_mve(const RequantizeContextArgs& all) {
  const RequantizeContextArgs args = all;
  const size_t columns = pad_columns(args.n);
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    int16_t* dst = args.dst + i * args.dst_stride;
    const int32x4_t reciprocal = vdupq_n_s32(args.row[i].value);
    const int32_t shift = 23 - args.row[i].z;
    by_fours(args.n, [&](size_t c, auto lanes) {
      const int32x4_t high = vshlq_r_s32(vldrwq_s32(acc + c), shift);
      const int32x4_t low = vshlq_r_s32(vldrwq_s32(acc + columns + c), shift);
      const int32x4_t joined = vaddq_s32(vqrdmulhq_s32(high, reciprocal),
                                         vrshrq_n_s32(vqrdmulhq_s32(low, reciprocal), 8));
      const int32x4_t value = requantize4(joined, vldrwq_s32(args.factor.multiplier + c),
                                          args.factor.left, args.factor.right);
      store4(dst + c, clamp4(value, -32767, 32767), lanes);
    });
  }
}

void requantize_residual_mve(const RequantizeResidualArgs& all) {
  const RequantizeResidualArgs args = all;
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    const int16_t* residual = args.residual + i * args.dst_stride;
    int16_t* dst = args.dst + i * args.dst_stride;
    const int32_t row_max = args.row_max[i] * 65536;
    by_fours(args.n, [&](size_t c, auto lanes) {
      const int32x4_t product = clamp4(vqrdmulhq_n_s32(columns4(args.factor, acc, c), row_max),
                                       -kResidualBound, kResidualBound);
      const int32x4_t carried = vqrdmulhq_s32(vshlq_n_s32(load4(residual + c, lanes), 15),
                                              vldrwq_s32(args.residual_multiplier + c));
      const int32x4_t sum = vaddq_s32(vaddq_s32(product, carried), vldrwq_s32(args.constant + c));
      store4(dst + c, saturate16(vrshrq_n_s32(sum, 4)), lanes);
    });
  }
}

}  // namespace embert
