// SPDX-License-Identifier: Apache-2.0
// Cholesky factor and inverse of a triangle, with the same bits on every processor: blocks go
// through matrix_product.hpp, and within a block whole rows are added in order.
#pragma once

#include <cstddef>
#include <vector>

namespace embert::convert {

/// Replaces the upper triangle of the symmetric `matrix` [size, size] by R with matrix = R^T R, and
/// leaves arbitrary values below it. False where the matrix is not positive definite.
bool factor_cholesky(std::vector<double>& matrix, std::size_t size);

/// The inverse of the upper triangle of `upper` [size, size], with zeros below the diagonal. No
/// entry of the diagonal is 0.
std::vector<double> invert_upper(const std::vector<double>& upper, std::size_t size);

}  // namespace embert::convert
