// SPDX-License-Identifier: Apache-2.0
#include "kernels/variants.hpp"

namespace embert {

void requantize_query_scalar(const RequantizeQueryArgs& args) {
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    uint8_t* dst = args.dst + i * args.dst_stride;
    for (size_t c = 0; c < pad_inputs(args.n); ++c) {
      const int32_t value = c < args.n ? sat8(requantize_column(args.factor, acc, c)) : 0;
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
      const int32_t value = c < args.n ? sat8(requantize_column(args.factor, acc, c)) : 0;
      args.dst[n16k4_index(args.row0 + i, c, k)] = static_cast<int8_t>(value);
      sum += value;
    }
    args.sums[args.row0 + i] = sum;
  }
}

// The 16-bit value that is split into two planes.
static int32_t clamped_column(const Requantize& factor, const int32_t* acc, size_t c) {
  return clamp(requantize_column(factor, acc, c), -kValueBound, kValueBound);
}

void requantize_query_s8x2_scalar(const RequantizeQueryArgs& args) {
  const size_t k = pad_inputs(args.n);
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    uint8_t* first = args.dst + 2 * i * args.dst_stride;
    uint8_t* second = first + args.dst_stride;
    for (size_t c = 0; c < k; ++c) {
      const int32_t v = c < args.n ? clamped_column(args.factor, acc, c) : 0;
      const uint8_t high = static_cast<uint8_t>(plane_high(v)) ^ kSignedLhsFlip;
      first[c] = second[k + c] = high;
      first[k + c] = kSignedLhsFlip;
      second[c] = static_cast<uint8_t>(plane_low(v)) ^ kSignedLhsFlip;
    }
  }
}

void requantize_key_s8x2_scalar(const RequantizeKeyArgs& args) {
  const size_t k = pad_inputs(args.n);
  for (size_t i = 0; i < args.m; ++i) {
    const int32_t* acc = args.acc + i * args.acc_stride;
    int32_t sum = 0;
    for (size_t c = 0; c < k; ++c) {
      const int32_t v = c < args.n ? clamped_column(args.factor, acc, c) : 0;
      const int32_t high = plane_high(v), low = plane_low(v);
      args.dst[n16k4_index(args.row0 + i, c, 2 * k)] = static_cast<int8_t>(high);
      args.dst[n16k4_index(args.row0 + i, k + c, 2 * k)] = static_cast<int8_t>(low);
      sum += high + low;
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
      const int32_t v = i < args.m ? clamped_column(args.factor, acc, c) : 0;
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

}  // namespace embert
