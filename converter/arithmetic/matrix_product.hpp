// SPDX-License-Identifier: Apache-2.0
// Matrix products with the same bits on every processor: each element of the result adds its
// products one after the other, and each product and each sum is rounded on its own. Only
// elements of different columns are computed side by side, so the width of the vectors does not
// matter. Blocks and packing are those of Goto and van de Geijn 2008.
#pragma once

#include <cstddef>
#include <vector>

namespace embert::convert {

/// Element (r, c) is data[r * row_stride + c * col_stride].
template <typename T>
struct MatrixView {
  const T* data;
  std::size_t rows, cols, row_stride, col_stride;

  MatrixView transposed() const { return {data, cols, rows, col_stride, row_stride}; }
  /// From row `first` on.
  MatrixView rows_from(std::size_t first) const {
    return {data + first * row_stride, rows - first, cols, row_stride, col_stride};
  }
};
/// Of rows that lie one behind the other.
template <typename T>
MatrixView<T> view_rows(const T* data, std::size_t rows, std::size_t cols) {
  return {data, rows, cols, cols, 1};
}

/// The right factor of products, packed for this processor.
template <typename T>
class PackedMatrix {
 public:
  PackedMatrix() = default;
  explicit PackedMatrix(const MatrixView<T>& matrix) { assign(matrix); }
  void assign(const MatrixView<T>& matrix);

  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  /// Row 0 of the columns from `first` on, which is a multiple of the tile's columns.
  const T* panel(std::size_t first) const { return panels_.data() + first * rows_; }

 private:
  std::size_t rows_ = 0, cols_ = 0;
  std::vector<T> panels_;  // [cols / tile's columns, rows, tile's columns], zeros behind cols_
};

/// Columns at which a part of a product may begin are multiples of this.
inline constexpr std::size_t kProductCols = 64;

/// The place of a product: out[i * step + j] for the columns first <= j < end of the right factor.
template <typename T>
struct ProductOut {
  T* data;
  std::size_t step;
  std::size_t first, end;  ///< first: a multiple of kProductCols
};

/// out += a b. `out` must not overlap the factors.
template <typename T>
void add_product(const MatrixView<T>& a, const PackedMatrix<T>& b, const ProductOut<T>& out);
/// out -= a b
template <typename T>
void subtract_product(const MatrixView<T>& a, const PackedMatrix<T>& b, const ProductOut<T>& out);

}  // namespace embert::convert
