// SPDX-License-Identifier: Apache-2.0
// What follows a GEMM, as the contracts say it.
#include "kernels/variants.hpp"

namespace embert {
namespace {

int32_t scaled(const Requantize& factor, const int32_t* acc, size_t c) {
  return requantize(acc[c], factor.multiplier[c], factor.left, factor.right);
}

}  // namespace

void requantize_query_scalar(const RequantizeQueryArgs& args) {
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    uint8_t* dst = args.dst + i * args.dst_stride;
    for (size_t c = 0; c < pad_inputs(args.n); ++c) {
      const int32_t value = c < args.n ? sat8(scaled(args.factor, acc, c)) : 0;
      dst[c] = static_cast<uint8_t>(value) ^ kSignedLhsFlip;
    }
  }
}

void requantize_key_n16k4_scalar(const RequantizeKeyArgs& args) {
  const size_t k = pad_inputs(args.n);
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    int32_t sum = 0;
    for (size_t c = 0; c < k; ++c) {
      const int32_t value = c < args.n ? sat8(scaled(args.factor, acc, c)) : 0;
      args.dst[n16k4_index(args.row0 + i, c, k)] = static_cast<int8_t>(value);
      sum += value;
    }
    args.sums[args.row0 + i] = sum;
  }
}

void requantize_value_n16k4_scalar(const RequantizeValueArgs& args) {
  const size_t columns = pad_columns(args.n);
  const size_t rows = pad_inputs(args.row0 + args.m) - args.row0;
  for (size_t c = 0; c < columns; ++c) {
    int32_t high_sum = 0, low_sum = 0;
    for (size_t i = 0; i < rows; ++i) {
      const int32_t* acc = args.acc + i * args.acc_stride;
      const int32_t v =
          i < args.m ? clamp(scaled(args.factor, acc, c), -kValueBound, kValueBound) : 0;
      const int32_t high = plane_high(v), low = plane_low(v);
      args.dst[n16k4_index(c, args.row0 + i, args.k)] = static_cast<int8_t>(high);
      args.dst[n16k4_index(columns + c, args.row0 + i, args.k)] = static_cast<int8_t>(low);
      high_sum += high;
      low_sum += low;
    }
    if (args.sums != nullptr) {
      args.sums[c] = (args.row0 == 0 ? 0 : args.sums[c]) + high_sum;
      args.sums[columns + c] = (args.row0 == 0 ? 0 : args.sums[columns + c]) + low_sum;
    }
  }
}

void requantize_context_scalar(const RequantizeContextArgs& args) {
  const size_t columns = pad_columns(args.n);
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    for (size_t c = 0; c < args.n; ++c) {
      const int32_t joined = join_planes(acc[c], acc[columns + c], args.row[i]);
      const int32_t value =
          requantize(joined, args.factor.multiplier[c], args.factor.left, args.factor.right);
      args.dst[i * args.dst_stride + c] =
          static_cast<int16_t>(clamp<int32_t>(value, -32767, 32767));
    }
  }
}

void requantize_activation_scalar(const RequantizeActivationArgs& args) {
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    for (size_t c = 0; c < args.n; ++c) {
      const int32_t g = clamp<int32_t>(scaled(args.factor, acc, c), -32767, 32767);
      args.dst[i * args.dst_stride + c] = static_cast<uint16_t>(activate(g, args.activation));
    }
  }
}

void requantize_residual_scalar(const RequantizeResidualArgs& args) {
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    const int16_t* residual = args.residual + i * args.dst_stride;
    for (size_t c = 0; c < args.n; ++c) {
      args.dst[i * args.dst_stride + c] = static_cast<int16_t>(
          residual_sum(scaled(args.factor, acc, c), args.row_max[i], residual[c],
                       args.residual_multiplier[c], args.constant[c]));
    }
  }
}

}  // namespace embert
