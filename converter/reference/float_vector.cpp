// SPDX-License-Identifier: Apache-2.0
#include "converter/reference/float_vector.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "converter/arithmetic/elementary.hpp"

namespace embert::convert {
namespace {

// One channel of a text, whose values are `stride` apart.
double pool_channel(PoolingKind kind, const float* channel, std::size_t stride,
                    std::size_t length) {
  const auto at = [&](std::size_t t) { return static_cast<double>(channel[t * stride]); };
  double value = kind == PoolingKind::kLastToken ? at(length - 1) : at(0);
  if (kind == PoolingKind::kCls || kind == PoolingKind::kLastToken) return value;
  for (std::size_t t = 1; t < length; ++t) {
    value = kind == PoolingKind::kMax            ? std::max(value, at(t))
            : kind == PoolingKind::kWeightedMean ? value + at(t) * static_cast<double>(t + 1)
                                                 : value + at(t);
  }
  const double count = static_cast<double>(length);
  switch (kind) {
    case PoolingKind::kMean:
      return value / count;
    case PoolingKind::kMeanSqrtLength:
      return value / std::sqrt(count);
    case PoolingKind::kWeightedMean:
      return value / (count * (count + 1) / 2);
    default:
      return value;
  }
}

double activate(HiddenAct act, double x) {
  switch (act) {
    case HiddenAct::kTanh:
      return ieee::tanh(x);
    case HiddenAct::kRelu:
      return std::max(x, 0.0);
    case HiddenAct::kSilu:
      return x / (1 + ieee::exp(-x));
    default:
      return x / 2 * (1 + ieee::erf(x / std::sqrt(2.0)));
  }
}

}  // namespace

void normalize_rows(VectorRows& rows) {
  for (auto row = rows.values.begin(); row != rows.values.end();
       row += static_cast<std::ptrdiff_t>(rows.width)) {
    const auto end = row + static_cast<std::ptrdiff_t>(rows.width);
    double squares = 0;
    for (auto value = row; value != end; ++value) squares += *value * *value;
    const double length = squares > 0 ? std::sqrt(squares) : 1;
    for (auto value = row; value != end; ++value) *value /= length;
  }
}

VectorRows pool_float(const PoolingConfig& pooling, std::size_t hidden_size,
                      std::span<const float> hidden, std::span<const std::int32_t> lengths) {
  VectorRows pooled{.width = pooling.kinds.size() * hidden_size, .values = {}};
  pooled.values.reserve(lengths.size() * pooled.width);
  const float* rows = hidden.data();
  for (const std::int32_t signed_length : lengths) {
    const auto length = static_cast<std::size_t>(signed_length);
    for (const PoolingKind kind : pooling.kinds) {
      for (std::size_t c = 0; c < hidden_size; ++c) {
        pooled.values.push_back(pool_channel(kind, rows + c, hidden_size, length));
      }
    }
    rows += length * hidden_size;
  }
  return pooled;
}

VectorRows dense_sums(const VectorDense& dense, const VectorRows& input) {
  const auto& [weight, bias] = dense.linear;
  VectorRows x = input;
  if (dense.normalize_input) normalize_rows(x);
  VectorRows out{.width = weight.rows, .values = {}};
  out.values.reserve(x.values.size() / x.width * out.width);
  for (std::size_t at = 0; at < x.values.size(); at += x.width) {
    for (std::size_t n = 0; n < weight.rows; ++n) {
      double sum = static_cast<double>(bias[n]);
      for (std::size_t c = 0; c < weight.cols; ++c) {
        sum += static_cast<double>(weight.row(n)[c]) * x.values[at + c];
      }
      out.values.push_back(sum);
    }
  }
  return out;
}

void activate_rows(const VectorDense& dense, VectorRows& rows) {
  if (!dense.activation) return;
  for (double& value : rows.values) value = activate(*dense.activation, value);
}

VectorRows float_vectors(const PoolingConfig& pooling, std::size_t hidden_size,
                         std::span<const float> hidden, std::span<const std::int32_t> lengths) {
  VectorRows rows = pool_float(pooling, hidden_size, hidden, lengths);
  for (const VectorDense& dense : pooling.dense) {
    rows = dense_sums(dense, rows);
    activate_rows(dense, rows);
  }
  return rows;
}

}  // namespace embert::convert
