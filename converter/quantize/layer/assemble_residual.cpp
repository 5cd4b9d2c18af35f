// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/layer/assemble_residual.hpp"

#include <algorithm>
#include <cmath>

#include "converter/quantize/encode_integers.hpp"
#include "kernels/arithmetic/layout.hpp"

namespace embert::convert {
namespace {

// The residual is added with a scale 16 times finer than that of the sum.
constexpr double kSumFraction = 16;

// The terms of the sum in each channel, real.
struct SumTerms {
  std::vector<double> factor;    // of the product
  std::vector<double> carried;   // of a unit of the residual
  std::vector<double> constant;  // bias and the residual's offset, without the output's
};

SumTerms sum_terms(const ResidualSource& source) {
  const RoundedDense& rounded = source.rounded;
  SumTerms terms;
  for (std::size_t n = 0; n < rounded.codes.outputs; ++n) {
    const bool dead = all_zero(rounded.codes.row(n), rounded.codes.inputs);
    terms.factor.push_back(dead ? 0.0
                                : source.input_scale * rounded.scale[n] * 0x1p15 * kSumFraction);
    const double gain = source.gain.empty() ? 1.0 : static_cast<double>(source.gain[n]);
    double carried = 0, constant = rounded.bias[n];
    if (const ChannelQuant* residual = source.residual) {
      carried = gain * (residual->factor[n] * residual->scale / 128);
      constant += gain * residual->offset[n];
    }
    if (source.output != nullptr) constant -= source.output->offset[n];
    terms.carried.push_back(carried);
    terms.constant.push_back(constant);
  }
  return terms;
}

// One scale for all channels.
double sum_scale(const ResidualSource& source, const SumTerms& terms) {
  const std::size_t outputs = terms.factor.size();
  double scale = 2 * static_cast<double>(source.largest_sum) / 32767;
  // Large enough for epsilon_n2, the factors, the residual's multipliers and the constants to fit.
  scale = std::max(scale, std::sqrt(source.epsilon) * static_cast<double>(outputs) * 0x1p-26);
  for (std::size_t n = 0; n < outputs; ++n) {
    scale = std::max({scale, terms.factor[n] * 0x1p-14, std::fabs(terms.carried[n]) * 0x1p-8,
                      std::fabs(terms.constant[n]) * 0x1p-23});
  }
  return scale == 0 ? 1 : scale;
}

}  // namespace

bool all_zero(const std::int16_t* row, std::size_t count) {
  return std::all_of(row, row + count, [](std::int16_t code) { return code == 0; });
}

std::vector<std::int8_t> byte_codes(const RoundedDense& rounded) {
  return {rounded.codes.codes.begin(), rounded.codes.codes.end()};
}

ResidualLayer assemble_residual(ResidualSource source) {
  SumTerms terms = sum_terms(source);
  const std::size_t outputs = terms.factor.size();
  ResidualLayer out;
  out.sum_scale = source.output != nullptr ? 0 : sum_scale(source, terms);
  const auto scale_of = [&](std::size_t n) {
    return source.output != nullptr ? source.output->factor[n] * source.output->scale / 128
                                    : out.sum_scale;
  };
  for (std::size_t n = 0; n < outputs; ++n) terms.factor[n] /= scale_of(n);
  EncodedFactors encoded = encode_factors(terms.factor, source.name);
  out.shifts = encoded.shifts;
  QuantizedDense& dense = out.dense;
  dense.outputs = pad_columns(outputs);
  dense.inputs = source.weights.size() / outputs;
  dense.weights = std::move(source.weights);
  dense.weights.resize(dense.outputs * dense.inputs);
  dense.multiplier = std::move(encoded.multipliers);
  dense.multiplier.resize(dense.outputs);
  dense.residual.resize(dense.outputs);
  dense.constant.resize(dense.outputs);
  for (std::size_t n = 0; n < outputs; ++n) {
    const double fine = scale_of(n) / kSumFraction;
    dense.residual[n] = encode_integer(terms.carried[n] / fine * 0x1p16, kMaxResidualMultiplier,
                                       source.name + " residual factor");
    dense.constant[n] =
        encode_integer(terms.constant[n] / fine, kMaxResidualConstant, source.name + " constant");
  }
  return out;
}

}  // namespace embert::convert
