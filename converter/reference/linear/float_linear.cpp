// SPDX-License-Identifier: Apache-2.0
#include "converter/reference/linear/float_linear.hpp"

#include <algorithm>
#include <atomic>
#include <new>

#include "converter/workers.hpp"

namespace embert::convert {
namespace {

// Rows and outputs of a task.
constexpr std::size_t kTaskRows = 96, kTaskOutputs = 6 * kProductCols;

}  // namespace

FloatLinear::FloatLinear(const Matrix& weight, const std::vector<float>& bias,
                         FloatProducts products)
    : outputs_(weight.rows) {
  if (products == FloatProducts::kXnnpack) {
    linear_.emplace<XnnLinear>(weight, bias);
    return;
  }
  const MatrixView<float> rows = view_rows(weight.data.data(), weight.rows, weight.cols);
  linear_ = SameEverywhere{PackedMatrix<float>(rows.transposed()), bias};
}

void FloatLinear::run(const float* in, std::size_t rows, float* out, pthreadpool_t pool) {
  if (auto* const xnnpack = std::get_if<XnnLinear>(&linear_)) {
    return xnnpack->run(in, rows, out, pool);
  }
  const auto& [weight, bias] = std::get<SameEverywhere>(linear_);
  std::atomic<bool> lacks_memory = false;  // an exception would end the program in a thread
  const auto task = [&, &packed = weight, &start = bias](std::size_t row, std::size_t output,
                                                         std::size_t count, std::size_t outputs) {
    float* const to = out + row * outputs_;
    for (std::size_t r = 0; r < count; ++r) {
      std::copy_n(start.data() + output, outputs, to + r * outputs_ + output);
    }
    try {
      add_product(view_rows(in + row * packed.rows(), count, packed.rows()), packed,
                  ProductOut<float>{to, outputs_, output, output + outputs});
    } catch (const std::bad_alloc&) {
      lacks_memory = true;
    }
  };
  pthreadpool_parallelize_2d_tile_2d(pool, task, rows, outputs_, kTaskRows, kTaskOutputs,
                                     kPoolFlags);
  if (lacks_memory) throw std::bad_alloc();
}

}  // namespace embert::convert
