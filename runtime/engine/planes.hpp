// SPDX-License-Identifier: Apache-2.0
// Rows whose 16 bits go into a GEMM as two planes of 8 bits, one row each. The planes' sums are
// joined in the scale of the sums of 8-bit rows, so all that follows stays as it is.
#pragma once

#include "kernels/arithmetic/layout.hpp"
#include "runtime/engine/run.hpp"

namespace embert {

/// 16-bit rows.
struct Rows {
  const int16_t* data;  ///< [m][k]
  size_t m, k;
};

/// The left operand of a GEMM in the task's scratch: u8 [planes * m][lhs_stride], of rows of a
/// LayerNorm's scale. Inputs that the layer reads a second time follow those of each row.
void make_lhs(const Run& run, size_t task, const Rows& rows, size_t planes,
              const CopiedInputs& copied = {});

/// Sums of two planes a row.
struct PlaneSums {
  int32_t* acc;   ///< [2 m][n]
  size_t stride;  ///< elements
  size_t m, n;
  const int32_t* bias;  ///< [n], or null for zeros
  int32_t join_shift = kPlaneShift;
};
/// Joins them in place: the m rows lie 2 * stride apart.
void join_sums(const Run& run, const PlaneSums& sums);

/// Rows times some columns of a dense layer.
struct Projection {
  size_t first_column, columns;  ///< multiples of 16
  size_t m, k;                   ///< k is padded to 4
  size_t planes;                 ///< 1 or 2
  const uint8_t* lhs;            ///< [planes * m][k], row stride lhs_stride
  int32_t* acc;                  ///< [m][columns], row stride planes * acc_columns
};
void project(const Run& run, const Dense& dense, const Projection& p);

/// Rows that were quantised with a scale of their own, or that keep their 16 bits in two planes.
struct QuantizedRows {
  const uint8_t* data;  ///< [planes * m][k]
  size_t stride;        ///< bytes
  size_t m, k;          ///< k is padded to 4
  LhsType type;
  const int32_t* row_max;  ///< [m]
  size_t planes = 1;
};

/// 16-bit rows in the arena that become bytes in place.
struct RowsInPlace {
  int16_t* rows;  ///< [m][stride]; unsigned ones are in 0..32767
  size_t stride;  ///< elements; for planes >= pad_inputs(k)
  size_t m, k;
};
/// Gives each row a scale of its own: its maximum becomes 127, that of unsigned rows 255.
QuantizedRows quantize_rows(const Run& run, size_t task, const RowsInPlace& in, LhsType type);
/// Puts the two planes of each row in its place. row_max makes up for the missing scale.
QuantizedRows split_rows(const Run& run, size_t task, const RowsInPlace& in, LhsType type);

}  // namespace embert
