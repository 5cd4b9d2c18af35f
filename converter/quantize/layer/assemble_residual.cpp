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

// The sum's range / its largest calibrated magnitude. One channel of a few tokens decides the scale
// of all (Sun et al. 2024), and most sums are small: each step of 16 bits counts.
constexpr double kSumHeadroom = 1.25;

// The terms of the sum in each channel, real.
struct SumTerms {
  std::vector<double> factor;   // [groups, outputs] of the product
  std::vector<double> carried;  // of a unit of the residual
  std::vector<double>
      constant;  // [groups, outputs] bias; in the first group the residual's offset,
                 // without the output's
};

SumTerms sum_terms(const ResidualSource& source) {
  const RoundedDense& rounded = source.rounded;
  SumTerms terms;
  const std::size_t outputs = rounded.codes.outputs;
  for (std::size_t i = 0; i < rounded.scale.size(); ++i) {
    const bool dead = all_zero(rounded.codes.row(i % outputs), rounded.codes.inputs);
    terms.factor.push_back(dead ? 0.0
                                : source.input_scale * rounded.scale[i] * 0x1p15 * kSumFraction);
  }
  terms.constant = rounded.bias;
  for (std::size_t n = 0; n < outputs; ++n) {
    const double gain = source.gain.empty() ? 1.0 : static_cast<double>(source.gain[n]);
    double carried = 0, &constant = terms.constant[n];
    if (const ChannelQuant* residual = source.residual) {
      carried = gain * (residual->factor[n] * residual->scale / 128);
      constant += gain * residual->offset[n];
    }
    if (source.output != nullptr) constant -= source.output->offset[n];
    terms.carried.push_back(carried);
  }
  return terms;
}

// One scale for all channels.
double sum_scale(const ResidualSource& source, const SumTerms& terms) {
  const std::size_t outputs = terms.carried.size();
  // The sum is first made without the second group, which may be what keeps it small.
  const double largest = static_cast<double>(source.largest_sum) + source.rounded.second_reach;
  double scale = kSumHeadroom * largest / 32767;
  // Large enough for epsilon_n2, the factors, the residual's multipliers and the constants to fit.
  scale = std::max(scale, std::sqrt(source.epsilon) * static_cast<double>(outputs) * 0x1p-26);
  for (const double factor : terms.factor) scale = std::max(scale, factor * 0x1p-14);
  for (const double carried : terms.carried) scale = std::max(scale, std::fabs(carried) * 0x1p-8);
  for (const double constant : terms.constant) {
    scale = std::max(scale, std::fabs(constant) * 0x1p-23);
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
  const std::size_t outputs = terms.carried.size();
  ResidualLayer out;
  out.sum_scale = source.output != nullptr ? 0 : sum_scale(source, terms);
  const auto scale_of = [&](std::size_t n) {
    return source.output != nullptr ? source.output->factor[n] * source.output->scale / 128
                                    : out.sum_scale;
  };
  for (std::size_t i = 0; i < terms.factor.size(); ++i) terms.factor[i] /= scale_of(i % outputs);
  const EncodedFactors encoded = encode_factors(terms.factor, source.name);
  out.shifts = encoded.shifts;
  const std::size_t columns = source.weights.size() / outputs;
  const auto make = [&](std::size_t group, std::size_t from, std::size_t end) {
    QuantizedDense dense;
    dense.outputs = pad_columns(outputs);
    dense.inputs = end - from;
    dense.weights.reserve(dense.outputs * dense.inputs);
    for (std::size_t n = 0; n < outputs; ++n) {
      const auto row = source.weights.begin() + static_cast<std::ptrdiff_t>(n * columns);
      dense.weights.insert(dense.weights.end(), row + static_cast<std::ptrdiff_t>(from),
                           row + static_cast<std::ptrdiff_t>(end));
      const double fine = scale_of(n) / kSumFraction;
      // A unit of the sum is kSumFraction of these: behind the first group it is carried exactly.
      const double carried = group == 0 ? terms.carried[n] / fine : kSumFraction;
      dense.residual.push_back(encode_integer(carried * 0x1p16, kMaxResidualMultiplier,
                                              source.name + " residual factor"));
      const std::size_t i = group * outputs + n;
      dense.multiplier.push_back(encoded.multipliers[i]);
      dense.constant.push_back(encode_integer(terms.constant[i] / fine, kMaxResidualConstant,
                                              source.name + " constant"));
    }
    dense.weights.resize(dense.outputs * dense.inputs);
    dense.multiplier.resize(dense.outputs);
    dense.residual.resize(dense.outputs);
    dense.constant.resize(dense.outputs);
    return dense;
  };
  if (source.first_columns == 0) {
    out.dense = make(0, 0, columns);
  } else {
    out.dense = make(0, 0, source.first_columns);
    out.second = make(1, source.first_columns, columns);
  }
  return out;
}

}  // namespace embert::convert
