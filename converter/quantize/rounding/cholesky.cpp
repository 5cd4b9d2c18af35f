// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/rounding/cholesky.hpp"

#include <algorithm>
#include <cmath>

#include "converter/arithmetic/matrix_product.hpp"

namespace embert::convert {
namespace {

constexpr std::size_t kFactorRows = 64;  // rows that are finished together

// row[j] -= factor * other[j] for first <= j < size
void subtract_row(double* row, const double* other, double factor, std::size_t first,
                  std::size_t size) {
  for (std::size_t j = first; j < size; ++j) row[j] -= factor * other[j];
}

}  // namespace

bool factor_cholesky(std::vector<double>& matrix, std::size_t size) {
  PackedMatrix<double> packed;
  for (std::size_t from = 0; from < size; from += kFactorRows) {
    const std::size_t end = std::min(size, from + kFactorRows), rest = size - from;
    double* const diagonal = matrix.data() + from * size + from;
    if (from > 0) {  // minus what the finished rows give
      const MatrixView<double> above = {matrix.data() + from, from, rest, size, 1};
      packed.assign(above);
      MatrixView<double> columns = above.transposed();
      columns.rows = end - from;
      subtract_product(columns, packed, ProductOut<double>{diagonal, size, 0, rest});
    }
    for (std::size_t i = from; i < end; ++i) {
      double* const row = matrix.data() + i * size;
      for (std::size_t k = from; k < i; ++k) {
        const double* const other = matrix.data() + k * size;
        subtract_row(row, other, other[i], i, size);
      }
      if (!(row[i] > 0) || !std::isfinite(row[i])) return false;
      const double pivot = std::sqrt(row[i]);
      for (std::size_t j = i; j < size; ++j) row[j] /= pivot;
    }
  }
  return true;
}

std::vector<double> invert_upper(const std::vector<double>& upper, std::size_t size) {
  std::vector<double> inverse(size * size);
  PackedMatrix<double> packed;
  const std::size_t blocks = (size + kFactorRows - 1) / kFactorRows;
  for (std::size_t block = blocks; block-- > 0;) {  // from the last rows to the first
    const std::size_t from = block * kFactorRows, end = std::min(size, from + kFactorRows);
    if (end < size) {
      const std::size_t rest = size - end;
      packed.assign({inverse.data() + end * size + end, rest, rest, size, 1});
      const MatrixView<double> right = {upper.data() + from * size + end, end - from, rest, size,
                                        1};
      subtract_product(right, packed,
                       ProductOut<double>{inverse.data() + from * size + end, size, 0, rest});
    }
    for (std::size_t i = end; i-- > from;) {
      double* const row = inverse.data() + i * size;
      row[i] = 1;
      for (std::size_t k = i + 1; k < end; ++k) {
        subtract_row(row, inverse.data() + k * size, upper[i * size + k], k, size);
      }
      const double pivot = upper[i * size + i];
      for (std::size_t j = i; j < size; ++j) row[j] /= pivot;
    }
  }
  return inverse;
}

}  // namespace embert::convert
