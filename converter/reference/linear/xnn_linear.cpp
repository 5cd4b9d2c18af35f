// SPDX-License-Identifier: Apache-2.0
// The only file that calls XNNPACK. XNNPACK's float kernels add the products of one output in the
// order of the inputs, whatever the number of rows and threads; float_model_test.cpp checks this.
#include "converter/reference/linear/xnn_linear.hpp"

#include <limits>
#include <new>
#include <string>

#include "converter/convert_error.hpp"

namespace embert::convert {
namespace {

void require(xnn_status status, const char* what) {
  if (status == xnn_status_success) return;
  if (status == xnn_status_out_of_memory) throw std::bad_alloc();
  throw ConvertError(
      std::string("XNNPACK: ") + what + " failed with status " +
      std::to_string(static_cast<int>(status)) +
      (status == xnn_status_unsupported_hardware ? ": it does not support this processor" : ""));
}

}  // namespace

XnnLinear::XnnLinear(const Matrix& weight, const std::vector<float>& bias) {
  require(xnn_initialize(nullptr), "initialization");
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  xnn_operator_t op = nullptr;
  require(xnn_create_fully_connected_nc_f32(weight.cols, weight.rows, weight.cols, weight.rows,
                                            weight.data.data(), bias.data(), -kInfinity, kInfinity,
                                            XNN_FLAG_YIELD_WORKERS, &op),
          "creating a fully-connected layer");
  op_.reset(op);
}

void XnnLinear::run(const float* in, std::size_t rows, float* out, pthreadpool_t pool) {
  require(xnn_setup_fully_connected_nc_f32(op_.get(), rows, in, out, pool), "setup");
  require(xnn_run_operator(op_.get(), pool), "run");
}

}  // namespace embert::convert
