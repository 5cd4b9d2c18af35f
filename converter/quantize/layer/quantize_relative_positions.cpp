// SPDX-License-Identifier: Apache-2.0
// A score is q8.k8 + s_E/s_k q8.E8 (+ s_E/s_q k8.E8) in units of s_q s_k.
#include "converter/quantize/layer/quantize_relative_positions.hpp"

#include <algorithm>
#include <cmath>

#include "converter/quantize/encode_integers.hpp"
#include "kernels/arithmetic/fixed_point.hpp"
#include "kernels/arithmetic/layout.hpp"

namespace embert::convert {
namespace {

constexpr double kMostCode = 127;

// Largest length of a row of the table.
double longest_row(const QuantizedRelativePositions& distances) {
  double most = 0;
  for (std::size_t r = 0; r < distances.columns; ++r) {
    double squares = 0;
    for (std::size_t d = 0; d < distances.inputs; ++d) {
      const double code = distances.table[r * distances.inputs + d];
      squares += code * code;
    }
    most = std::max(most, std::sqrt(squares));
  }
  return most;
}

}  // namespace

DistanceTable quantize_distances(const Matrix& distances, PositionKind kind) {
  DistanceTable out;
  float most = 0;
  for (const float value : distances.data) most = std::max(most, std::fabs(value));
  if (most > 0) out.step = static_cast<double>(most) / kMostCode;
  QuantizedRelativePositions& record = out.record;
  record.columns = pad_columns(distances.rows);
  record.inputs = distances.cols;
  for (std::size_t r = distances.rows; r-- > 0;) {
    for (std::size_t d = 0; d < distances.cols; ++d) {
      const double code = std::floor(static_cast<double>(distances.row(r)[d]) / out.step + 0.5);
      record.table.push_back(static_cast<std::int8_t>(std::clamp(code, -kMostCode, kMostCode)));
    }
  }
  record.table.resize(record.columns * record.inputs);

  const auto head_size = static_cast<double>(distances.cols);
  const double terms = kind == PositionKind::kRelativeKeyQuery ? 2 : 1;
  const double longest_head = kMostCode * std::sqrt(head_size);  // of queries or keys
  const double room = kScoreBound - 4 - longest_head * longest_head;
  out.least_head_step = terms * longest_head * longest_row(record) * out.step / room;
  return out;
}

void encode_ratios(DistanceTable& table, PositionKind kind, const std::vector<double>& query_steps,
                   const std::vector<double>& key_steps, const std::string& name,
                   BlobLayer& layer) {
  const auto encode = [&](const std::vector<double>& steps, BlobShifts& shifts) {
    std::vector<double> ratios;
    for (const double step : steps) {
      ratios.push_back(table.least_head_step > 0 ? table.step / step : 0.0);
    }
    EncodedFactors encoded = encode_factors(ratios, name);
    shifts = encoded.shifts;
    return std::move(encoded.multipliers);
  };
  table.record.query_ratio = encode(key_steps, layer.query_relative);
  if (kind == PositionKind::kRelativeKeyQuery) {
    table.record.key_ratio = encode(query_steps, layer.key_relative);
  }
}

}  // namespace embert::convert
