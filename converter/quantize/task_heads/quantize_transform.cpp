// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/task_heads/quantize_transform.hpp"

#include <algorithm>
#include <cmath>

#include "converter/quantize/encode_integers.hpp"
#include "converter/quantize/layer/choose_scales.hpp"

namespace embert::convert {
namespace {

// Without LayerNorm behind it the activation's value itself is read on, so it takes all of its 16
// bits: twice the calibrated reach, as far as the exponents of the blob go.
int finest_exponent(float reach) {
  int exponent = 12;
  while (exponent > 5 && 2 * static_cast<double>(reach) > std::ldexp(32767, -exponent)) --exponent;
  return exponent;
}

}  // namespace

QuantizedTransformRows quantize_transform(const TransformSource& source,
                                          const Dense16Rounding& rounding) {
  QuantizedTransformRows out;
  out.transform.activation = static_cast<std::uint32_t>(source.act);
  out.transform.exponent = source.norm != nullptr ? activation_exponent(source.largest_sum)
                                                  : finest_exponent(source.largest_sum);
  const double activated_scale = std::ldexp(1.0, -out.transform.exponent);
  out.transform.dense = quantize_dense16({.linear = source.dense,
                                          .rows = source.input,
                                          .input_scale = source.input_scale,
                                          .output_scale = activated_scale,
                                          .name = source.name},
                                         rounding);
  out.scale = activated_scale;
  if (source.norm == nullptr) return out;
  const std::size_t width = source.output.cols;
  out.scale = std::max({2 * static_cast<double>(largest_magnitude(source.output.data)) / 32767,
                        least_norm_scale(*source.norm, per_tensor_quant(width, 1)),
                        source.least_output_scale});
  // The activation's offset is the same in all channels, so the LayerNorm takes it away.
  out.transform.norm = encode_norm({.norm = *source.norm,
                                    .output = per_tensor_quant(width, out.scale),
                                    .input_scale = activated_scale,
                                    .epsilon = source.epsilon,
                                    .name = source.norm_name});
  return out;
}

}  // namespace embert::convert
