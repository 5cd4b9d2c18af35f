// SPDX-License-Identifier: Apache-2.0
// A fully-connected layer of XNNPACK with its packed weights, as an object that cleans up.
#pragma once

#include <pthreadpool.h>
#include <xnnpack.h>

#include <cstddef>
#include <memory>
#include <type_traits>

#include "converter/read_weights.hpp"

namespace embert::convert {

/// XNNPACK reads up to this many floats past the end of an input.
inline constexpr std::size_t kInputPadding = XNN_EXTRA_BYTES / sizeof(float);

class XnnLinear {
 public:
  explicit XnnLinear(const Linear& linear);

  /// in [rows, inputs], kInputPadding more floats readable behind it -> out [rows, outputs]; they
  /// must not overlap.
  void run(const float* in, std::size_t rows, float* out, pthreadpool_t pool);

 private:
  struct Deleter {
    void operator()(xnn_operator_t op) const { xnn_delete_operator(op); }
  };
  std::unique_ptr<std::remove_pointer_t<xnn_operator_t>, Deleter> op_;
};

}  // namespace embert::convert
