// SPDX-License-Identifier: Apache-2.0
// A dense layer packs its rows once for all columns, and requantises a run of columns as soon as it
// has their sums.
#include "kernels/arm/gemm_tiles_i8mm.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

// The product of a dense layer, finish(j, n) behind each run of columns, whose sums lie in
// product.dst. Rows that are too long for one chunk are left to two steps, a single row to SDOT.
template <typename Finish>
size_t dense(const GemmArgs& product, size_t n, Finish finish) {
  if (product.m == 1 || product.m > kBlockRows || product.k > most_inputs(product.m)) return 0;
  alignas(64) int8_t packed[kBytes];
  const Chunk all = {.i = 0, .m = product.m, .c = 0, .k = product.k, .lhs = packed};
  pack_rows(product, all);
  const size_t run = least(all.columns(), product.dst_stride / kPanelColumns * kPanelColumns);
  for (size_t j = 0; j < n; j += run) {
    multiply_columns(product, all, j, least(run, product.n - j), product.dst);
    finish(j, least(run, n - j));
  }
  return n;
}

}  // namespace

size_t dense_activation_i8mm(const DenseActivationArgs& args) {
  const GemmArgs& product = args.product;
  return dense(product, args.activation.n, [&](size_t j, size_t n) {
    RequantizeActivationArgs columns = args.activation;
    columns.n = n;
    columns.acc = product.dst;
    columns.acc_stride = product.dst_stride;
    columns.factor.multiplier += j;
    columns.dst += j;
    requantize_activation_neon(columns);
  });
}

size_t dense_residual_i8mm(const DenseResidualArgs& args) {
  const GemmArgs& product = args.product;
  return dense(product, args.residual.n, [&](size_t j, size_t n) {
    RequantizeResidualArgs columns = args.residual;
    columns.n = n;
    columns.acc = product.dst;
    columns.acc_stride = product.dst_stride;
    columns.factor.multiplier += j;
    columns.residual += j;
    columns.residual_multiplier += j;
    columns.constant += j;
    columns.dst += j;
    requantize_residual_neon(columns);
  });
}

}  // namespace embert
