// SPDX-License-Identifier: Apache-2.0
// A fully-connected layer of XNNPACK with its packed weights, and the buffers that it may read.
#pragma once

#include <pthreadpool.h>
#include <xnnpack.h>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

#include "converter/model/model_weights.hpp"

namespace embert::convert {

/// XNNPACK reads up to this many floats past the end of an input.
inline constexpr std::size_t kInputPadding = XNN_EXTRA_BYTES / sizeof(float);

/// A buffer that an XnnLinear may read.
class FloatBuffer {
 public:
  /// `count` floats, with kInputPadding more behind them. The old contents may be lost.
  float* sized(std::size_t count) {
    if (values_.size() < count + kInputPadding) values_.resize(count + kInputPadding);
    return values_.data();
  }

 private:
  std::vector<float> values_;
};

class XnnLinear {
 public:
  /// weight [outputs, inputs], bias [outputs]
  XnnLinear(const Matrix& weight, const std::vector<float>& bias);

  /// in [rows, inputs], with kInputPadding readable floats behind it -> out [rows, outputs]. They
  /// must not overlap. Throws ConvertError where XNNPACK fails.
  void run(const float* in, std::size_t rows, float* out, pthreadpool_t pool);

 private:
  struct Deleter {
    void operator()(xnn_operator_t op) const { xnn_delete_operator(op); }
  };
  std::unique_ptr<std::remove_pointer_t<xnn_operator_t>, Deleter> op_;
};

}  // namespace embert::convert
