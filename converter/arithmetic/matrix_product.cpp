// SPDX-License-Identifier: Apache-2.0
#include "converter/arithmetic/matrix_product.hpp"

#include <algorithm>

#include "converter/arithmetic/product_tile.hpp"
#include "converter/arithmetic/tile_kernel.hpp"
#include "kernels/processor.hpp"

namespace embert::convert {
namespace {

constexpr std::size_t kBlockRows = 96;    // of the left factor, packed together
constexpr std::size_t kBlockDepth = 256;  // a panel of the right factor is 16 KiB of it
constexpr std::size_t kMostCols = 16;     // of a tile
static_assert(kBlockRows % kTileRows == 0 && kProductCols % kMostCols == 0);

bool has_avx() {
#if EMBERT_X86
  return __builtin_cpu_supports("avx");
#else
  return false;
#endif
}

template <typename T>
TileKernel<T> choose_kernel(const TileKernel<T>* avx) {
  if (has_avx()) return *avx;
  return {Tile<T, 16>::kCols, Tile<T, 16>::add};
}

template <typename T>
const TileKernel<T>& tile_kernel();
template <>
const TileKernel<float>& tile_kernel<float>() {
  static const TileKernel<float> kernel = choose_kernel(EMBERT_X86 ? &kFloatTileAvx : nullptr);
  return kernel;
}
template <>
const TileKernel<double>& tile_kernel<double>() {
  static const TileKernel<double> kernel = choose_kernel(EMBERT_X86 ? &kDoubleTileAvx : nullptr);
  return kernel;
}

// A part of the left factor, times 1 or -1, in tiles [tiles, depth, kTileRows]; zeros behind the
// last row.
template <typename T>
struct Block {
  std::size_t first_row, rows, first_depth, depth;
  T sign;

  void pack(const MatrixView<T>& a, T* to) const {
    for (std::size_t tile = 0; tile < rows; tile += kTileRows) {
      for (std::size_t r = 0; r < kTileRows; ++r) {
        const bool is_there = tile + r < rows;
        const T* from = a.data + (first_row + tile + r) * a.row_stride + first_depth * a.col_stride;
        for (std::size_t k = 0; k < depth; ++k) {
          to[k * kTileRows + r] = is_there ? sign * from[k * a.col_stride] : T{0};
        }
      }
      to += depth * kTileRows;
    }
  }
};

// Packed factors of a tile.
template <typename T>
struct TileFactors {
  std::size_t depth;
  const T *a, *b;

  // Into the columns first <= j < end of `rows` rows. A tile at the edge goes through a whole one.
  void add(const TileKernel<T>& kernel, std::size_t rows, const ProductOut<T>& out) const {
    const std::size_t cols = out.end - out.first;
    if (rows == kTileRows && cols == kernel.cols) {
      return kernel.add(depth, a, b, out.data + out.first, out.step);
    }
    T whole[kTileRows * kMostCols] = {};
    for (std::size_t r = 0; r < rows; ++r) {
      std::copy_n(out.data + r * out.step + out.first, cols, whole + r * kernel.cols);
    }
    kernel.add(depth, a, b, whole, kernel.cols);
    for (std::size_t r = 0; r < rows; ++r) {
      std::copy_n(whole + r * kernel.cols, cols, out.data + r * out.step + out.first);
    }
  }
};

// out += sign a b
template <typename T>
void add_signed(const MatrixView<T>& a, const PackedMatrix<T>& b, const ProductOut<T>& out,
                T sign) {
  const TileKernel<T>& kernel = tile_kernel<T>();
  std::vector<T> packed(std::min(kBlockRows, (a.rows + kTileRows - 1) / kTileRows * kTileRows) *
                        std::min(kBlockDepth, a.cols));
  for (std::size_t k = 0; k < a.cols; k += kBlockDepth) {
    const std::size_t depth = std::min(kBlockDepth, a.cols - k);
    for (std::size_t i = 0; i < a.rows; i += kBlockRows) {
      const std::size_t rows = std::min(kBlockRows, a.rows - i);
      Block<T>{i, rows, k, depth, sign}.pack(a, packed.data());
      for (std::size_t j = out.first; j < out.end; j += kernel.cols) {
        const T* const panel = b.panel(j) + k * kernel.cols;
        const std::size_t end = std::min(out.end, j + kernel.cols);
        for (std::size_t tile = 0; tile < rows; tile += kTileRows) {
          const TileFactors<T> factors = {depth, packed.data() + tile * depth, panel};
          factors.add(kernel, std::min(kTileRows, rows - tile),
                      ProductOut<T>{out.data + (i + tile) * out.step, out.step, j, end});
        }
      }
    }
  }
}

}  // namespace

template <typename T>
void PackedMatrix<T>::assign(const MatrixView<T>& matrix) {
  const std::size_t width = tile_kernel<T>().cols;
  rows_ = matrix.rows;
  cols_ = matrix.cols;
  panels_.resize((cols_ + width - 1) / width * width * rows_);
  T* to = panels_.data();
  for (std::size_t first = 0; first < cols_; first += width) {
    const std::size_t count = std::min(width, cols_ - first);
    for (std::size_t k = 0; k < rows_; ++k, to += width) {
      const T* const from = matrix.data + k * matrix.row_stride + first * matrix.col_stride;
      for (std::size_t c = 0; c < count; ++c) to[c] = from[c * matrix.col_stride];
      std::fill(to + count, to + width, T{0});
    }
  }
}

template <typename T>
void add_product(const MatrixView<T>& a, const PackedMatrix<T>& b, const ProductOut<T>& out) {
  add_signed(a, b, out, T{1});
}

template <typename T>
void subtract_product(const MatrixView<T>& a, const PackedMatrix<T>& b, const ProductOut<T>& out) {
  add_signed(a, b, out, T{-1});
}

template class PackedMatrix<float>;
template class PackedMatrix<double>;
template void add_product(const MatrixView<float>&, const PackedMatrix<float>&,
                          const ProductOut<float>&);
template void add_product(const MatrixView<double>&, const PackedMatrix<double>&,
                          const ProductOut<double>&);
template void subtract_product(const MatrixView<float>&, const PackedMatrix<float>&,
                               const ProductOut<float>&);
template void subtract_product(const MatrixView<double>&, const PackedMatrix<double>&,
                               const ProductOut<double>&);

}  // namespace embert::convert
