// SPDX-License-Identifier: Apache-2.0
// A dense layer packs its rows once for all columns, and requantises some columns as soon as it has
// their sums.
#include "kernels/arm/gemm_i8mm.hpp"
#include "kernels/variants.hpp"

namespace embert {
namespace {

// The product of a dense layer of n columns, finish(j, n) behind each n of them, whose sums lie in
// product.dst. Two steps do what does not fit one chunk, and a single row, for which packing does
// not pay.
template <typename Finish>
size_t dense(const GemmArgs& product, size_t n, Finish finish) {
  const size_t m = product.m;
  if (m == 1 || m > kI8mmRows || product.k > i8mm_most_inputs(m)) return 0;
  alignas(64) int8_t packed[kI8mmBytes];
  const I8mmChunk all = {0, m, 0, product.k, packed};
  i8mm_pack_rows(product, all);
  const size_t most = i8mm_most_columns(all);
  const size_t run = most < product.dst_stride ? most : product.dst_stride;
  for (size_t j = 0; j < n; j += run) {
    const size_t left = n - j;
    i8mm_multiply(product, all, j, left < run ? pad_columns(left) : run, product.dst);
    finish(j, left < run ? left : run);
  }
  return n;
}

// The second step of columns j .. j + n - 1, whose sums lie in product.dst.
template <typename RequantizeArgs>
RequantizeArgs columns_of(const RequantizeArgs& args, const GemmArgs& product, size_t j, size_t n) {
  RequantizeArgs columns = args;
  columns.n = n;
  columns.acc = product.dst;
  columns.acc_stride = product.dst_stride;
  columns.factor.multiplier += j;
  columns.dst += j;
  return columns;
}

}  // namespace

size_t dense_activation_i8mm(const DenseActivationArgs& args) {
  return dense(args.product, args.activation.n, [&](size_t j, size_t n) {
    requantize_activation_neon(columns_of(args.activation, args.product, j, n));
  });
}

size_t dense_residual_i8mm(const DenseResidualArgs& args) {
  return dense(args.product, args.residual.n, [&](size_t j, size_t n) {
    RequantizeResidualArgs columns = columns_of(args.residual, args.product, j, n);
    columns.residual += j;
    columns.residual_multiplier += j;
    columns.constant += j;
    requantize_residual_neon(columns);
  });
}

}  // namespace embert
