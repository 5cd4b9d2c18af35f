// SPDX-License-Identifier: Apache-2.0
// A factor of a requantisation is its input's scale divided by its output's scale.
#include "converter/quantize/layer/assemble_attention.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "converter/quantize/encode_integers.hpp"
#include "converter/quantize/layer/choose_scales.hpp"
#include "converter/quantize/layer/quantize_relative_positions.hpp"
#include "converter/quantize/layer/quantize_score_bias.hpp"
#include "converter/quantize/layer/smoothing.hpp"
#include "converter/quantize/two_planes.hpp"
#include "kernels/arithmetic/layout.hpp"

namespace embert::convert {
namespace {

constexpr double kTurnedAlpha = 0.5;  // migration strength between queries and keys

// Queries, keys or values of all attention heads: outputs of a rounded dense layer from first_row
// on.
struct HeadRows {
  const RoundedDense& rounded;
  std::size_t first_row;
  std::size_t head_size;
  double input_scale;

  double sum_scale(std::size_t n) const { return rounded.scale[first_row + n] * input_scale; }
};

// Scales of 8-bit queries or keys that reach `largest` in each attention head.
std::vector<double> head_scales(const std::vector<float>& largest, const HeadRows& rows) {
  const auto most = static_cast<double>(*std::max_element(largest.begin(), largest.end()));
  std::vector<double> scales;
  for (std::size_t h = 0; h < largest.size(); ++h) {
    // All heads share one pair of shifts. A dead head takes the coarsest scale that leaves the
    // other heads their bits.
    double scale = std::max(static_cast<double>(largest[h]), most * 0x1p-16) / 127;
    for (std::size_t d = 0; d < rows.head_size; ++d) {
      scale = std::max(scale, rows.sum_scale(h * rows.head_size + d) * 0x1p-14);
    }
    scales.push_back(scale > 0 ? scale : 1.0);
  }
  return scales;
}

// Turned queries and keys. A turn mixes channels i and i + D/2, so the two share a smoothing
// factor: real = code * scale of the head * factor for queries, / factor for keys, which leaves the
// product of a query and a key as it is.
struct TurnedHeads {
  HeadScales head;                             // of 8-bit operands
  std::vector<double> query_scale, key_scale;  // [outputs] of 16-bit sums before the turn
};

TurnedHeads turned_heads(const AttentionRanges& ranges, const HeadRows& query,
                         const HeadRows& key) {
  const std::size_t heads = ranges.query.size(), size = query.head_size;
  std::vector<double> query_reach(heads * size), key_reach(heads * size);
  for (std::size_t n = 0; n < heads * size; ++n) {
    const std::size_t partner = n % size < size / 2 ? n + size / 2 : n - size / 2;
    const auto reach = [&](const std::vector<float>& channels) {
      return static_cast<double>(std::max(channels[n], channels[partner]));
    };
    query_reach[n] = reach(ranges.query_channels);
    key_reach[n] = reach(ranges.key_channels);
  }
  const std::vector<double> factor =
      smoothing_factors({.activation = query_reach, .weight = key_reach}, kTurnedAlpha);
  TurnedHeads out;
  const auto add = [&](const HeadRows& rows, const std::vector<double>& reach, bool divide,
                       std::vector<double>& of_heads, std::vector<double>& of_outputs) {
    const double most = *std::max_element(reach.begin(), reach.end());
    const auto factor_of = [&](std::size_t n) { return divide ? 1 / factor[n] : factor[n]; };
    for (std::size_t h = 0; h < heads; ++h) {
      double scale = 0;
      for (std::size_t n = h * size; n < (h + 1) * size; ++n) {
        const double f = factor_of(n);
        scale = std::max({scale, std::max(reach[n], most * 0x1p-16) / f / 127,
                          rows.sum_scale(n) * kRotaryFineness / f * 0x1p-14});
      }
      of_heads.push_back(scale > 0 ? scale : 1.0);
      for (std::size_t n = h * size; n < (h + 1) * size; ++n) {
        of_outputs.push_back(of_heads.back() * factor_of(n) / kRotaryFineness);
      }
    }
  };
  add(query, query_reach, false, out.head.query, out.query_scale);
  add(key, key_reach, true, out.head.key, out.key_scale);
  return out;
}

void size_dense(QuantizedDense& dense, std::size_t outputs, std::size_t inputs) {
  dense.outputs = outputs;
  dense.inputs = inputs;
  dense.weights.assign(outputs * inputs, 0);
  dense.bias.assign(outputs, 0);
  dense.multiplier.assign(outputs, 0);
}

// In a dense layer whose outputs are, for each attention head, `parts` times N(D): the `part`th.
struct HeadSlot {
  std::size_t part, parts;
};

// Repeats the scale of each attention head for all of its channels.
std::vector<double> channel_scales(const std::vector<double>& of_heads, std::size_t head_size) {
  std::vector<double> scales;
  for (const double scale : of_heads) scales.insert(scales.end(), head_size, scale);
  return scales;
}

// Writes rows into `dense` with `scale` [outputs], and returns the shifts of their multipliers.
BlobShifts place_heads(const HeadRows& rows, std::span<const double> scale, HeadSlot slot,
                       const std::string& name, QuantizedDense& dense) {
  const std::size_t head_size = rows.head_size, padded = pad_columns(head_size);
  const std::size_t width = scale.size();
  const auto place = [&](std::size_t n) {
    return (n / head_size * slot.parts + slot.part) * padded + n % head_size;
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
    dense.bias[to] = encode_integer(rows.rounded.bias[rows.first_row + n] / rows.sum_scale(n),
                                    kMaxDenseBias, name + " bias");
    dead = dead && dense.bias[to] == 0;
    factors.push_back(dead ? 0.0 : rows.sum_scale(n) / scale[n]);
  }
  const EncodedFactors encoded = encode_factors(factors, name);
  for (std::size_t n = 0; n < width; ++n) dense.multiplier[place(n)] = encoded.multipliers[n];
  return encoded.shifts;
}

void assemble_scores(const HeadScales& scales, std::size_t head_size, QuantizedAttention& out) {
  for (std::size_t h = 0; h < scales.query.size(); ++h) {
    const EncodedScore score =
        encode_score(scales.query[h] * scales.key[h] / std::sqrt(static_cast<double>(head_size)));
    out.score_multipliers.push_back(score.multiplier);
    out.score_caps.push_back(score.cap);
  }
}

// `context`: how the attention output reads the context, [heads * head_size] channels. Returns the
// shifts.
BlobShifts assemble_context(const ChannelQuant& context, double value_scale, std::size_t head_size,
                            const std::string& name, QuantizedAttention& out) {
  const std::size_t heads = context.factor.size() / head_size, padded = pad_columns(head_size);
  std::vector<double> factors;
  for (const double factor : context.factor) {
    factors.push_back(value_scale / (factor * context.scale) * 0x1p-15);
  }
  const EncodedFactors encoded = encode_factors(factors, name + " context");
  out.context_multipliers.assign(heads * padded, 0);
  for (std::size_t h = 0; h < heads; ++h) {
    for (std::size_t d = 0; d < head_size; ++d) {
      out.context_multipliers[h * padded + d] = encoded.multipliers[h * head_size + d];
    }
  }
  return encoded.shifts;
}

}  // namespace

void assemble_self_attention(const LayerSource& source, const LayerScales& scales,
                             const RoundedLayer& parts, QuantizedLayer& layer) {
  const RoundedDense& qkv = part_of(parts, LayerPart::kQkv);
  const std::size_t heads = source.ranges.self.query.size();
  const auto head_size = static_cast<std::size_t>(source.config.head_size());
  const std::string name = source.name + ".attention.self";
  const AttentionWeights& weights = source.weights.attention;
  const auto rows_of = [&](std::size_t part) {
    return HeadRows{.rounded = qkv,
                    .first_row = part * heads * head_size,
                    .head_size = head_size,
                    .input_scale = query_key_input(source, scales).scale};
  };
  const bool own_value = source.config.bottleneck == BottleneckKind::kShared;
  const HeadRows query = rows_of(0), key = rows_of(1),
                 value = own_value ? HeadRows{.rounded = part_of(parts, LayerPart::kValue),
                                              .first_row = 0,
                                              .head_size = head_size,
                                              .input_scale = scales.input.scale}
                                   : rows_of(2);
  HeadScales head;
  std::vector<double> query_scale, key_scale;  // [outputs] of the requantised sums
  if (source.config.rotary) {
    TurnedHeads turned = turned_heads(source.ranges.self, query, key);
    head = std::move(turned.head);
    query_scale = std::move(turned.query_scale);
    key_scale = std::move(turned.key_scale);
  } else {
    head = {.query = head_scales(source.ranges.self.query, query),
            .key = head_scales(source.ranges.self.key, key)};
  }
  const double v_scale =
      value_scale(source.ranges.self.value, weights.value.weight, value_input(source, scales));
  const PositionKind kind = source.config.position_kind;
  if (kind != PositionKind::kAbsolute) {
    RelativePositionTable table = quantize_relative_positions(weights.distance_embedding, kind);
    for (double& scale : head.key) scale = std::max(scale, table.least_head_scale);
    if (kind == PositionKind::kRelativeKeyQuery) {
      for (double& scale : head.query) scale = std::max(scale, table.least_head_scale);
    }
    encode_relative_ratios(table, kind, head, name + ".distance_embedding", layer.record);
    layer.relative_positions = std::move(table.record);
  }

  if (const Matrix& bias = source.score_bias; bias.rows > 0) {
    make_room_for_bias(bias, head_size, head);
    layer.bias_ratio = encode_bias_ratios(bias, head_size, head, name + " score bias",
                                          layer.record.query_relative);
  }

  const std::vector<double> v_scales(heads * head_size, v_scale);
  QuantizedDense& dense = layer.qkv;
  BlobAttention& shifts = layer.record.self;
  const std::size_t slots = own_value ? 2 : 3;
  size_dense(dense, heads * slots * pad_columns(head_size), qkv.codes.inputs);
  if (!source.config.rotary) {
    query_scale = channel_scales(head.query, head_size);
    key_scale = channel_scales(head.key, head_size);
  }
  shifts.query =
      place_heads(query, query_scale, {.part = 0, .parts = slots}, name + ".query", dense);
  shifts.key = place_heads(key, key_scale, {.part = 1, .parts = slots}, name + ".key", dense);
  if (own_value) {
    QuantizedDense& values = layer.bottleneck->value;
    size_dense(values, heads * pad_columns(head_size), value.rounded.codes.inputs);
    shifts.value = place_heads(value, v_scales, {.part = 0, .parts = 1}, name + ".value", values);
  } else {
    shifts.value = place_heads(value, v_scales, {.part = 2, .parts = 3}, name + ".value", dense);
  }
  assemble_scores(head, head_size, layer.self);
  shifts.context = assemble_context(scales.context, v_scale, head_size, name, layer.self);
}

void assemble_cross_attention(const LayerSource& source, const LayerScales& scales,
                              const RoundedLayer& parts, QuantizedLayer& layer) {
  const RoundedDense& query_part = part_of(parts, LayerPart::kCrossQuery);
  const RoundedDense& key_value = part_of(parts, LayerPart::kCrossKeyValue);
  const std::size_t heads = source.ranges.cross.query.size();
  const auto head_size = static_cast<std::size_t>(source.config.head_size());
  const std::size_t padded = pad_columns(head_size);
  const std::string name = source.name + ".crossattention.self";
  const HeadRows query{.rounded = query_part,
                       .first_row = 0,
                       .head_size = head_size,
                       .input_scale = scales.cross_input.scale};
  const HeadRows key{.rounded = key_value,
                     .first_row = 0,
                     .head_size = head_size,
                     .input_scale = scales.cross_states.scale};
  const HeadRows value{.rounded = key_value,
                       .first_row = heads * head_size,
                       .head_size = head_size,
                       .input_scale = scales.cross_states.scale};
  const HeadScales head{.query = head_scales(source.ranges.cross.query, query),
                        .key = head_scales(source.ranges.cross.key, key)};
  const double v_scale = value_scale(source.ranges.cross.value, source.weights.cross->value.weight,
                                     scales.cross_states);
  const std::vector<double> v_scales(heads * head_size, v_scale);

  BlobAttention& shifts = layer.record.cross;
  QuantizedDense& query_dense = layer.cross_query;
  size_dense(query_dense, heads * padded, query_part.codes.inputs);
  shifts.query = place_heads(query, channel_scales(head.query, head_size), {.part = 0, .parts = 1},
                             name + ".query", query_dense);
  layer.record.cross_join_shift = planes_join_shift(key_value.codes.inputs);
  QuantizedDense& dense = layer.cross_key_value;
  size_dense(dense, heads * 2 * padded, key_value.codes.inputs);
  shifts.key = place_heads(key, channel_scales(head.key, head_size), {.part = 0, .parts = 2},
                           name + ".key", dense);
  shifts.value = place_heads(value, v_scales, {.part = 1, .parts = 2}, name + ".value", dense);
  assemble_scores(head, head_size, layer.cross);
  shifts.context = assemble_context(scales.cross_context, v_scale, head_size, name, layer.cross);
}

}  // namespace embert::convert
