// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/task_heads/quantize_dense16.hpp"

#include <algorithm>

#include "converter/quantize/encode_integers.hpp"
#include "converter/quantize/two_planes.hpp"
#include "kernels/arithmetic/layout.hpp"

namespace embert::convert {

namespace {

// The columns' offsets are part of the bias.
Linear without_offset(const Dense16Source& source) {
  Linear out = source.linear;
  for (std::size_t n = 0; source.output != nullptr && n < out.bias.size(); ++n) {
    out.bias[n] = static_cast<float>(static_cast<double>(out.bias[n]) - source.output->offset[n]);
  }
  return out;
}

double scale_of_column(const Dense16Source& source, std::size_t n) {
  if (source.output == nullptr) return source.output_scale;
  return source.output->factor[n] * source.output->scale;
}

}  // namespace

QuantizedDense16 quantize_dense16(const Dense16Source& source, const Dense16Rounding& rounding) {
  const Linear linear = without_offset(source);
  const std::size_t inputs = linear.weight.cols;
  const ChannelQuant quant = planes_quant(inputs, source.input_scale);
  const InputRows rows = input_rows(source.rows);
  const RoundedDense rounded =
      round_dense(planes_source(source.name, {&linear}, quant, rows), rows, rounding.rounding);
  if (!rounded.codes.warning.empty()) rounding.warnings.push_back(rounded.codes.warning);
  rounding.errors.push_back({.name = source.name, .error = rounded.relative_error});

  QuantizedDense16 out;
  out.record.join_shift = planes_join_shift(inputs);
  QuantizedDense& dense = out.dense;
  dense.outputs = pad_columns(linear.weight.rows);
  dense.inputs = inputs;
  dense.weights.assign(rounded.codes.codes.begin(), rounded.codes.codes.end());
  dense.weights.resize(dense.outputs * inputs);
  std::vector<double> factors;
  for (std::size_t n = 0; n < linear.weight.rows; ++n) {
    const double sum_scale = quant.scale * rounded.scale[n];
    dense.bias.push_back(
        encode_integer(rounded.bias[n] / sum_scale, kMaxDenseBias, source.name + " bias"));
    const std::int16_t* codes = rounded.codes.row(n);
    const bool dead = dense.bias.back() == 0 &&
                      std::all_of(codes, codes + inputs, [](std::int16_t c) { return c == 0; });
    factors.push_back(dead ? 0.0 : sum_scale / scale_of_column(source, n));
  }
  EncodedFactors encoded = encode_factors(factors, source.name);
  out.record.shifts = encoded.shifts;
  dense.multiplier = std::move(encoded.multipliers);
  dense.bias.resize(dense.outputs);
  dense.multiplier.resize(dense.outputs);
  return out;
}

}  // namespace embert::convert
