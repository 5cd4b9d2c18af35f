// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/planes.hpp"

#include <string.h>

namespace embert {

void make_lhs(const Run& run, size_t task, const Rows& rows, size_t planes,
              const CopiedInputs& copied) {
  const Kernels& kernels = run.engine.kernels;
  uint8_t* lhs = run.scratch<uint8_t>(task, run.plan.lhs);
  if (planes > 1) {
    kernels.convert_s8x2_s16({.m = rows.m,
                              .k = rows.k,
                              .src = rows.data,
                              .src_stride = rows.k,
                              .dst = lhs,
                              .dst_stride = run.plan.lhs_stride,
                              .flip = kSignedLhsFlip});
  } else {
    kernels.convert_s8_s16({.m = rows.m,
                            .k = rows.k,
                            .src = rows.data,
                            .src_stride = rows.k,
                            .dst = lhs,
                            .dst_stride = run.plan.lhs_stride});
  }
  if (copied.count == 0) return;
  const size_t padded = pad_inputs(rows.k + copied.count) - rows.k;
  for (size_t i = 0; i < planes * rows.m; ++i) {
    const uint8_t* row = lhs + i * run.plan.lhs_stride;
    uint8_t* copies = lhs + i * run.plan.lhs_stride + rows.k;
    for (size_t c = 0; c < padded; ++c) {
      copies[c] = c < copied.count ? row[copied.inputs[c]] : kSignedLhsFlip;
    }
  }
}

void join_sums(const Run& run, const PlaneSums& sums) {
  run.engine.kernels.convert_s32_s32x2({.m = sums.m,
                                        .n = sums.n,
                                        .acc = sums.acc,
                                        .acc_stride = sums.stride,
                                        .join_shift = sums.join_shift,
                                        .bias = sums.bias,
                                        .dst = sums.acc,
                                        .dst_stride = 2 * sums.stride});
}

void project(const Run& run, const Dense& dense, const Projection& p) {
  const int32_t* bias = dense.bias + p.first_column;
  run.engine.kernels.gemm({.m = p.planes * p.m,
                           .n = p.columns,
                           .k = p.k,
                           .lhs = p.lhs,
                           .lhs_stride = run.plan.lhs_stride,
                           .lhs_type = LhsType::kSigned,
                           .rhs_order = weight_order(run.engine.model),
                           .rhs = dense.weights + p.first_column * p.k,
                           .bias = p.planes > 1 ? nullptr : bias,
                           .sums = dense.sums + p.first_column,
                           .dst = p.acc,
                           .dst_stride = run.plan.acc_columns,
                           .planes = p.planes});
  if (p.planes > 1) join_sums(run, {p.acc, run.plan.acc_columns, p.m, p.columns, bias});
}

QuantizedRows quantize_rows(const Run& run, size_t task, const RowsInPlace& in, LhsType type) {
  const Kernels& kernels = run.engine.kernels;
  int32_t* row_max = run.scratch<int32_t>(task, run.plan.row_max);  // [m]
  uint8_t* bytes = reinterpret_cast<uint8_t*>(in.rows);
  if (type == LhsType::kSigned) {
    kernels.quantize_s8_s16({.m = in.m,
                             .k = in.k,
                             .src = in.rows,
                             .src_stride = in.stride,
                             .dst = bytes,
                             .dst_stride = 2 * in.stride,
                             .row_max = row_max});
  } else {
    kernels.quantize_u8_u16({.m = in.m,
                             .k = in.k,
                             .src = reinterpret_cast<const uint16_t*>(in.rows),
                             .src_stride = in.stride,
                             .dst = bytes,
                             .dst_stride = 2 * in.stride,
                             .row_max = row_max});
  }
  return {.data = bytes,
          .stride = 2 * in.stride,
          .m = in.m,
          .k = pad_inputs(in.k),
          .type = type,
          .row_max = row_max};
}

QuantizedRows split_rows(const Run& run, size_t task, const RowsInPlace& in, LhsType type) {
  int16_t* copy = run.scratch<int16_t>(task, run.plan.lhs);         // [k]
  int32_t* row_max = run.scratch<int32_t>(task, run.plan.row_max);  // [m]
  const int32_t top = type == LhsType::kSigned ? 127 : 255;         // the code of a row's maximum
  for (size_t i = 0; i < in.m; ++i) {
    int16_t* row = in.rows + i * in.stride;
    memcpy(copy, row, in.k * sizeof(int16_t));
    run.engine.kernels.convert_s8x2_s16({.m = 1,
                                         .k = in.k,
                                         .src = copy,
                                         .src_stride = in.k,
                                         .dst = reinterpret_cast<uint8_t*>(row),
                                         .dst_stride = in.stride,
                                         .flip = kSignedLhsFlip});
    // An 8-bit code stands for row_max / top units of the row; joined sums count 2^kPlaneShift.
    row_max[i] = top << kPlaneShift;
  }
  return {.data = reinterpret_cast<uint8_t*>(in.rows),
          .stride = in.stride,
          .m = in.m,
          .k = pad_inputs(in.k),
          .type = LhsType::kSigned,
          .row_max = row_max,
          .planes = 2};
}

}  // namespace embert
