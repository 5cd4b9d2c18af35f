// SPDX-License-Identifier: Apache-2.0
// A fully-connected layer of the float model.
#pragma once

#include <pthreadpool.h>

#include <cstddef>
#include <variant>
#include <vector>

#include "converter/arithmetic/matrix_product.hpp"
#include "converter/model/model_weights.hpp"
#include "converter/reference/linear/float_products.hpp"
#include "converter/reference/linear/xnn_linear.hpp"

namespace embert::convert {

class FloatLinear {
 public:
  FloatLinear(const Linear& linear, FloatProducts products)
      : FloatLinear(linear.weight, linear.bias, products) {}
  /// weight [outputs, inputs], bias [outputs]
  FloatLinear(const Matrix& weight, const std::vector<float>& bias, FloatProducts products);

  std::size_t outputs() const { return outputs_; }

  /// in [rows, inputs], with kInputPadding readable floats behind it -> out [rows, outputs]. They
  /// must not overlap. Throws ConvertError where XNNPACK fails.
  void run(const float* in, std::size_t rows, float* out, pthreadpool_t pool);

 private:
  struct SameEverywhere {
    PackedMatrix<float> weight;  // [inputs, outputs]
    std::vector<float> bias;     // [outputs]
  };

  std::size_t outputs_;
  std::variant<SameEverywhere, XnnLinear> linear_;
};

}  // namespace embert::convert
