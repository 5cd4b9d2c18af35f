// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/task_heads/quantize_vector.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "converter/convert_error.hpp"
#include "converter/quantize/layer/choose_scales.hpp"
#include "converter/quantize/two_planes.hpp"

namespace embert::convert {
namespace {

constexpr double kLengthOneScale = 0x1p-15;
constexpr double kTanhSumScale = 0x1p-12;
constexpr double kTanhRowScale = 1.0 / 28672;  // tanh in Q12, times 7 to use 16 bits
constexpr double kPooledFactor = 16;           // pooled values have 4 binary places more
constexpr double kVectorHeadroom = 2;          // above the calibrated reach of a row

double reach_of(const VectorRows& rows) {
  double most = 0;
  for (const double value : rows.values) most = std::max(most, std::fabs(value));
  return most;
}

// Of 16-bit rows with this reach, as a float32 that the blob holds.
double row_scale(double reach) {
  return static_cast<double>(
      static_cast<float>(usable_scale(kVectorHeadroom * reach / kMostInPlanes)));
}

std::uint32_t float_bits(double scale) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(scale));
}

// factor = multiplier * 2^-shift.
void encode_pooled(double factor, BlobVector& record) {
  int exponent = 0;
  const double fraction = std::frexp(factor, &exponent);  // in [1/2, 1)
  record.pooled_multiplier = static_cast<std::int32_t>(std::min(fraction * 0x1p31, 0x1p31 - 1));
  record.pooled_shift = 31 - exponent;
  if (record.pooled_shift < 1 || record.pooled_shift > 61) {
    throw ConvertError("pooling: the pooled vectors of the calibration texts are " +
                       std::to_string(factor) + " times out of range of the hidden states");
  }
}

// How the sums of a module become its outputs.
struct OutputScales {
  double sums, outputs;
  std::int32_t exponent;
};
OutputScales output_scales(const VectorDense& dense, const VectorRows& sums) {
  if (!dense.activation || *dense.activation == HiddenAct::kRelu) {
    const double scale = row_scale(reach_of(sums));
    return {.sums = scale, .outputs = scale, .exponent = 0};
  }
  if (*dense.activation == HiddenAct::kTanh) {
    return {.sums = kTanhSumScale, .outputs = kTanhRowScale, .exponent = 12};
  }
  const int exponent = activation_exponent(static_cast<float>(reach_of(sums)));
  const double scale = std::ldexp(1.0, -exponent);
  return {.sums = scale, .outputs = scale, .exponent = exponent};
}

Matrix float_matrix(const VectorRows& rows) {
  return {rows.values.size() / rows.width, rows.width,
          std::vector<float>(rows.values.begin(), rows.values.end())};
}

}  // namespace

QuantizedVector quantize_vector(const VectorSource& source, const Dense16Rounding& rounding) {
  const PoolingConfig& pooling = source.pooling;
  QuantizedVector out;
  BlobVector& record = out.record;
  record.num_poolings = static_cast<std::uint32_t>(pooling.kinds.size());
  std::ranges::transform(pooling.kinds, record.poolings,
                         [](PoolingKind kind) { return static_cast<std::uint32_t>(kind); });
  double input_scale = row_scale(reach_of(source.pooled));
  record.pooled_scale = float_bits(input_scale);
  encode_pooled(source.hidden_scale / kPooledFactor / input_scale, record);
  record.vector_size = static_cast<std::uint32_t>(source.pooled.width);
  VectorRows rows = source.pooled;
  for (const VectorDense& dense : pooling.dense) {
    const VectorRows sums = dense_sums(dense, rows);
    const OutputScales scales = output_scales(dense, sums);
    if (dense.normalize_input) normalize_rows(rows);
    QuantizedDense16 quantized =
        quantize_dense16({.linear = dense.linear,
                          .rows = float_matrix(rows),
                          .input_scale = dense.normalize_input ? kLengthOneScale : input_scale,
                          .output_scale = scales.sums,
                          .name = dense.name},
                         rounding);
    record.vector_size = static_cast<std::uint32_t>(sums.width);
    record.dense[record.num_dense++] = {
        .outputs = record.vector_size,
        .activation = dense.activation ? static_cast<std::uint32_t>(*dense.activation)
                                       : kVectorActivationNone,
        .exponent = scales.exponent,
        .scale = float_bits(scales.outputs),
        .normalize_input = dense.normalize_input ? 1U : 0U,
        .reserved = 0,
        .dense = quantized.record};
    out.dense.push_back(std::move(quantized.dense));
    rows = sums;
    activate_rows(dense, rows);
    input_scale = scales.outputs;
  }
  return out;
}

}  // namespace embert::convert
