// SPDX-License-Identifier: Apache-2.0
// With s_q, s_k and s_E the scales of queries, keys and table, a score in units of s_q s_k is
// q8.k8 + s_E/s_k q8.E8, and with kRelativeKeyQuery also + s_E/s_q k8.E8.
#include "converter/quantize/layer/quantize_relative_positions.hpp"

#include <algorithm>
#include <cmath>

#include "converter/quantize/encode_integers.hpp"
#include "kernels/arithmetic/fixed_point.hpp"
#include "kernels/arithmetic/layout.hpp"

namespace embert::convert {
namespace {

constexpr double kMostCode = 127;

// Largest Euclidean norm of a row.
double longest_row(const QuantizedRelativePositions& record) {
  double most = 0;
  for (std::size_t r = 0; r < record.columns; ++r) {
    double squares = 0;
    for (std::size_t d = 0; d < record.inputs; ++d) {
      const double code = record.table[r * record.inputs + d];
      squares += code * code;
    }
    most = std::max(most, std::sqrt(squares));
  }
  return most;
}

}  // namespace

RelativePositionTable quantize_relative_positions(const Matrix& embedding, PositionKind kind) {
  RelativePositionTable out;
  const float most = largest_magnitude(embedding.data);
  if (most > 0) out.scale = static_cast<double>(most) / kMostCode;
  QuantizedRelativePositions& record = out.record;
  record.columns = pad_columns(embedding.rows);
  record.inputs = embedding.cols;
  for (std::size_t r = embedding.rows; r-- > 0;) {
    for (std::size_t d = 0; d < embedding.cols; ++d) {
      const double code = std::floor(static_cast<double>(embedding.row(r)[d]) / out.scale + 0.5);
      record.table.push_back(static_cast<std::int8_t>(std::clamp(code, -kMostCode, kMostCode)));
    }
  }
  record.table.resize(record.columns * record.inputs);

  const auto head_size = static_cast<double>(embedding.cols);
  const double terms = kind == PositionKind::kRelativeKeyQuery ? 2 : 1;
  const double longest_head = kMostCode * std::sqrt(head_size);  // of queries or keys
  const double room = kScoreBound - 4 - longest_head * longest_head;
  out.least_head_scale = terms * longest_head * longest_row(record) * out.scale / room;
  return out;
}

void encode_relative_ratios(RelativePositionTable& table, PositionKind kind,
                            const HeadScales& scales, const std::string& name, BlobLayer& layer) {
  const auto encode = [&](const std::vector<double>& head_scales, BlobShifts& shifts) {
    std::vector<double> ratios;
    for (const double scale : head_scales) {
      ratios.push_back(table.least_head_scale > 0 ? table.scale / scale : 0.0);
    }
    EncodedFactors encoded = encode_factors(ratios, name);
    shifts = encoded.shifts;
    return std::move(encoded.multipliers);
  };
  table.record.query_ratio = encode(scales.key, layer.query_relative);
  if (kind == PositionKind::kRelativeKeyQuery) {
    table.record.key_ratio = encode(scales.query, layer.key_relative);
  }
}

}  // namespace embert::convert
