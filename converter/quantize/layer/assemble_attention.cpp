// SPDX-License-Identifier: Apache-2.0
// A factor stands for "real value of a unit before over real value of a unit behind".
#include "converter/quantize/layer/assemble_attention.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "converter/quantize/encode_integers.hpp"
#include "converter/quantize/layer/quantize_relative_positions.hpp"
#include "converter/quantize/two_planes.hpp"
#include "kernels/arithmetic/layout.hpp"

namespace embert::convert {
namespace {

// Real value of a unit: of 8-bit queries and keys one a head, of 16-bit values one for all.
struct AttentionUnits {
  std::vector<double> query, key, value;  // [heads]
};

// Queries, keys or values of all heads: outputs of a rounded dense layer from first_row on.
struct HeadRows {
  const RoundedDense& rounded;
  std::size_t first_row;
  double input_step;  // real value of a unit of the sum for a weight of 1
  std::size_t head_size;

  double sum_step(std::size_t n) const { return rounded.step[first_row + n] * input_step; }
};

// Steps of 8-bit queries or keys that reach `largest` in each head.
std::vector<double> head_steps(const std::vector<float>& largest, const HeadRows& rows) {
  const auto most = static_cast<double>(*std::max_element(largest.begin(), largest.end()));
  std::vector<double> steps;
  for (std::size_t h = 0; h < largest.size(); ++h) {
    // Dead heads share the coarsest step that leaves the others their bits.
    double step = std::max(static_cast<double>(largest[h]), most * 0x1p-16) / 127;
    for (std::size_t d = 0; d < rows.head_size; ++d) {
      step = std::max(step, rows.sum_step(h * rows.head_size + d) * 0x1p-14);
    }
    steps.push_back(step > 0 ? step : 1.0);
  }
  return steps;
}

void size_dense(QuantizedDense& dense, std::size_t outputs, std::size_t inputs) {
  dense.outputs = outputs;
  dense.inputs = inputs;
  dense.weights.assign(outputs * inputs, 0);
  dense.bias.assign(outputs, 0);
  dense.multiplier.assign(outputs, 0);
}

// Writes rows into `dense`, whose outputs are for each head `parts` times N(D): these are the
// part's.
void place_heads(const HeadRows& rows, std::span<const double> unit, std::size_t part,
                 std::size_t parts, const std::string& name, QuantizedDense& dense,
                 BlobShifts& shifts) {
  const std::size_t head_size = rows.head_size, padded = pad_columns(head_size);
  const std::size_t width = unit.size() * head_size;
  const auto place = [&](std::size_t n) {
    return (n / head_size * parts + part) * padded + n % head_size;
  };
  std::vector<double> factors;
  for (std::size_t n = 0; n < width; ++n) {
    const std::size_t to = place(n);
    const std::int16_t* codes = rows.rounded.codes.row(rows.first_row + n);
    bool dead = true;
    for (std::size_t c = 0; c < dense.inputs; ++c) {
      dense.weights[to * dense.inputs + c] = static_cast<std::int8_t>(codes[c]);
      dead = dead && codes[c] == 0;
    }
    dense.bias[to] = encode_integer(rows.rounded.bias[rows.first_row + n] / rows.sum_step(n),
                                    kMaxDenseBias, name + " bias");
    dead = dead && dense.bias[to] == 0;
    factors.push_back(dead ? 0.0 : rows.sum_step(n) / unit[n / head_size]);
  }
  const EncodedFactors encoded = encode_factors(factors, name);
  shifts = encoded.shifts;
  for (std::size_t n = 0; n < width; ++n) dense.multiplier[place(n)] = encoded.multipliers[n];
}

// Scores and context.
void assemble_scores(const AttentionUnits& units, const ChannelQuant& context_domain,
                     std::size_t head_size, const std::string& name, QuantizedAttention& out,
                     BlobShifts& context_shifts) {
  const std::size_t heads = units.query.size(), padded = pad_columns(head_size);
  std::vector<double> context;
  for (const double factor : context_domain.factor) {
    context.push_back(units.value.front() / (factor * context_domain.scale) * 0x1p-15);
  }
  const EncodedFactors encoded = encode_factors(context, name + " context");
  context_shifts = encoded.shifts;
  out.context_multipliers.assign(heads * padded, 0);
  for (std::size_t h = 0; h < heads; ++h) {
    const EncodedScore score =
        encode_score(units.query[h] * units.key[h] / std::sqrt(static_cast<double>(head_size)));
    out.score_multipliers.push_back(score.multiplier);
    out.score_caps.push_back(score.cap);
    for (std::size_t d = 0; d < head_size; ++d) {
      out.context_multipliers[h * padded + d] = encoded.multipliers[h * head_size + d];
    }
  }
}

}  // namespace

void assemble_self_attention(const LayerSource& source, const LayerScales& steps,
                             const RoundedDense& qkv, QuantizedLayer& layer) {
  const std::size_t heads = source.ranges.self.query.size();
  const auto head_size = static_cast<std::size_t>(source.config.head_size());
  const std::size_t width = heads * head_size;
  const std::string name = source.name + ".attention.self";
  const AttentionWeights& weights = source.weights.attention;
  const HeadRows query{qkv, 0, steps.input.scale, head_size},
      key{qkv, width, steps.input.scale, head_size},
      value{qkv, 2 * width, steps.input.scale, head_size};
  const double v_step = value_step(source.ranges.self.value, weights.value.weight, steps.input);
  AttentionUnits units{head_steps(source.ranges.self.query, query),
                       head_steps(source.ranges.self.key, key), std::vector<double>(heads, v_step)};
  const PositionKind kind = source.config.position_kind;
  if (kind != PositionKind::kAbsolute) {
    DistanceTable table = quantize_distances(weights.distance_embedding, kind);
    for (double& step : units.key) step = std::max(step, table.least_head_step);
    if (kind == PositionKind::kRelativeKeyQuery) {
      for (double& step : units.query) step = std::max(step, table.least_head_step);
    }
    encode_ratios(table, kind, units.query, units.key, name + ".distance_embedding", layer.record);
    layer.relative_positions = std::move(table.record);
  }

  size_dense(layer.qkv, heads * 3 * pad_columns(head_size), qkv.codes.inputs);
  BlobAttention& shifts = layer.record.self;
  place_heads(query, units.query, 0, 3, name + ".query", layer.qkv, shifts.query);
  place_heads(key, units.key, 1, 3, name + ".key", layer.qkv, shifts.key);
  place_heads(value, units.value, 2, 3, name + ".value", layer.qkv, shifts.value);
  assemble_scores(units, steps.context, head_size, name, layer.self, shifts.context);
}

void assemble_cross_attention(const LayerSource& source, const LayerScales& steps,
                              const RoundedDense& query_rows, const RoundedDense& key_value,
                              QuantizedLayer& layer) {
  const std::size_t heads = source.ranges.cross.query.size();
  const auto head_size = static_cast<std::size_t>(source.config.head_size());
  const std::size_t padded = pad_columns(head_size);
  const std::string name = source.name + ".crossattention.self";
  const HeadRows query{query_rows, 0, steps.cross_input.scale, head_size},
      key{key_value, 0, steps.cross_states.scale, head_size},
      value{key_value, heads * head_size, steps.cross_states.scale, head_size};
  const double v_step =
      value_step(source.ranges.cross.value, source.weights.cross->value.weight, steps.cross_states);
  const AttentionUnits units{head_steps(source.ranges.cross.query, query),
                             head_steps(source.ranges.cross.key, key),
                             std::vector<double>(heads, v_step)};

  BlobAttention& shifts = layer.record.cross;
  size_dense(layer.cross_query, heads * padded, query_rows.codes.inputs);
  place_heads(query, units.query, 0, 1, name + ".query", layer.cross_query, shifts.query);
  layer.record.cross_join_shift = planes_join_shift(key_value.codes.inputs);
  size_dense(layer.cross_key_value, heads * 2 * padded, key_value.codes.inputs);
  place_heads(key, units.key, 0, 2, name + ".key", layer.cross_key_value, shifts.key);
  place_heads(value, units.value, 1, 2, name + ".value", layer.cross_key_value, shifts.value);
  assemble_scores(units, steps.cross_context, head_size, name, layer.cross, shifts.context);
}

}  // namespace embert::convert
