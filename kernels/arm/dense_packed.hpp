// SPDX-License-Identifier: Apache-2.0
// A dense layer packs its rows once for all columns, and requantises some columns as soon as it has
// their sums. Rows are the packed rows of an ISA extension: fit() says whether it packs those of a
// product, the constructor packs them, columns() is how many columns multiply() takes at most.
#pragma once

#include "kernels/variants.hpp"

namespace embert {
namespace {

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

// The product of a dense layer of n columns, finish(j, n) behind each n of them, whose sums lie in
// product.dst. Two steps do what does not fit.
template <typename Rows, typename Finish>
size_t dense(const GemmArgs& product, size_t n, Finish finish) {
  if (!Rows::fit(product)) return 0;
  Rows rows(product);
  const size_t most = rows.columns();
  const size_t run = most < product.dst_stride ? most : product.dst_stride;
  for (size_t j = 0; j < n; j += run) {
    const size_t left = n - j;
    rows.multiply(j, left < run ? pad_columns(left) : run);
    finish(j, left < run ? left : run);
  }
  return n;
}

template <typename Rows>
size_t dense_activation(const DenseActivationArgs& args) {
  return dense<Rows>(args.product, args.activation.n, [&](size_t j, size_t n) {
    requantize_activation_neon(columns_of(args.activation, args.product, j, n));
  });
}

template <typename Rows>
size_t dense_residual(const DenseResidualArgs& args) {
  return dense<Rows>(args.product, args.residual.n, [&](size_t j, size_t n) {
    RequantizeResidualArgs columns = columns_of(args.residual, args.product, j, n);
    columns.residual += j;
    columns.residual_multiplier += j;
    columns.constant += j;
    requantize_residual_neon(columns);
  });
}

}  // namespace
}  // namespace embert
