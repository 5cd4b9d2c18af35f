// SPDX-License-Identifier: Apache-2.0
// Products have the bits of a loop that adds one product after the other.
#include "converter/arithmetic/matrix_product.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "converter/quantize/rounding/cholesky.hpp"

namespace embert::convert {
namespace {

// Values between -1 and 1 without a pattern.
template <typename T>
std::vector<T> values(std::size_t count, double start) {
  std::vector<T> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = static_cast<T>(std::sin(start + static_cast<double>(i * i % 10007)));
  }
  return out;
}

template <typename T>
void expect_bits_of_a_loop(std::size_t rows, std::size_t depth, std::size_t cols) {
  const std::vector<T> a = values<T>(rows * depth, 1), b = values<T>(depth * cols, 2);
  const std::vector<T> start = values<T>(rows * cols, 3);
  std::vector<T> sum = start, difference = start, transposed = start;
  const MatrixView<T> left = view_rows(a.data(), rows, depth);
  const PackedMatrix<T> right(view_rows(b.data(), depth, cols));
  add_product(left, right, ProductOut<T>{sum.data(), cols, 0, cols});
  subtract_product(left, right, ProductOut<T>{difference.data(), cols, 0, cols});
  // The left factor column by column, the result in two parts.
  std::vector<T> columns(rows * depth);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t k = 0; k < depth; ++k) columns[k * rows + i] = a[i * depth + k];
  }
  const std::size_t half = std::min(cols, kProductCols);
  const MatrixView<T> turned = view_rows(columns.data(), depth, rows).transposed();
  add_product(turned, right, ProductOut<T>{transposed.data(), cols, 0, half});
  add_product(turned, right, ProductOut<T>{transposed.data(), cols, half, cols});
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) {
      T more = start[i * cols + j], less = more;
      for (std::size_t k = 0; k < depth; ++k) {
        const T product = a[i * depth + k] * b[k * cols + j];
        more += product;
        less -= product;
      }
      ASSERT_EQ(sum[i * cols + j], more) << i << ", " << j;
      ASSERT_EQ(difference[i * cols + j], less) << i << ", " << j;
      ASSERT_EQ(transposed[i * cols + j], more) << i << ", " << j;
    }
  }
}

TEST(MatrixProduct, HasTheBitsOfALoop) {
  constexpr std::size_t kSizes[][3] = {{1, 1, 1},    {6, 4, 16},   {7, 9, 17},
                                       {5, 300, 70}, {97, 513, 3}, {200, 256, 130}};
  for (const auto& [rows, depth, cols] : kSizes) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(depth) + " x " +
                 std::to_string(cols));
    expect_bits_of_a_loop<float>(rows, depth, cols);
    expect_bits_of_a_loop<double>(rows, depth, cols);
  }
}

// A^T A of more rows than columns, which is positive definite.
std::vector<double> positive_definite(std::size_t size) {
  const std::size_t rows = 2 * size;
  const std::vector<double> a = values<double>(rows * size, 4);
  std::vector<double> out(size * size);
  const MatrixView<double> view = view_rows(a.data(), rows, size);
  add_product(view.transposed(), PackedMatrix<double>(view),
              ProductOut<double>{out.data(), size, 0, size});
  return out;
}

TEST(Cholesky, FactorAndItsInverse) {
  for (const std::size_t size : {1U, 5U, 64U, 65U, 200U}) {
    const std::vector<double> matrix = positive_definite(size);
    std::vector<double> factor = matrix;
    ASSERT_TRUE(factor_cholesky(factor, size)) << size;
    const std::vector<double> inverse = invert_upper(factor, size);
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = i; j < size; ++j) {
        double product = 0, one = 0;
        for (std::size_t k = 0; k <= i; ++k) product += factor[k * size + i] * factor[k * size + j];
        for (std::size_t k = i; k <= j; ++k) one += factor[i * size + k] * inverse[k * size + j];
        ASSERT_NEAR(product, matrix[i * size + j], 1e-10 * static_cast<double>(size));
        ASSERT_NEAR(one, i == j ? 1 : 0, 1e-9);
      }
      for (std::size_t j = 0; j < i; ++j) ASSERT_EQ(inverse[i * size + j], 0);
    }
  }
}

TEST(Cholesky, RefusesAMatrixThatIsNotPositiveDefinite) {
  std::vector<double> matrix = positive_definite(100);
  matrix[70 * 100 + 70] = -1;
  EXPECT_FALSE(factor_cholesky(matrix, 100));
  std::vector<double> overflow = {HUGE_VAL};
  EXPECT_FALSE(factor_cholesky(overflow, 1));
}

}  // namespace
}  // namespace embert::convert
