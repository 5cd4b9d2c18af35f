// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/rounding/round_layer.hpp"

#include <utility>

#include "converter/quantize/two_planes.hpp"

namespace embert::convert {
namespace {

// A layer that adds its bias to the sum: the scales leave room for the bias of the float model,
// which rounding changes little.
DenseSource with_bias(const std::string& name, const std::vector<const Linear*>& linears,
                      const ChannelQuant& input, const QuantizedRows& rows) {
  return {.name = name,
          .linears = linears,
          .input = &input,
          .least_scale = scales_for_bias(mean_output(linears, rows.real_mean), input.scale)};
}

}  // namespace

bool has_part(const LayerSource& source, LayerPart part) {
  const bool of_cross = part == LayerPart::kCrossQuery || part == LayerPart::kCrossKeyValue ||
                        part == LayerPart::kCrossOut;
  return source.weights.cross.has_value() || !of_cross;
}

RoundedDense round_layer_part(const LayerSource& source, const LayerScales& scales, LayerPart part,
                              LayerRows& layer_rows, Rounding rounding) {
  const LayerWeights& w = source.weights;
  const std::string& name = source.name;
  switch (part) {
    case LayerPart::kQkv: {
      const QuantizedRows rows = std::move(layer_rows.input);
      return round_dense(
          with_bias(name + ".attention.self",
                    {&w.attention.query, &w.attention.key, &w.attention.value}, scales.input, rows),
          input_rows(rows), rounding);
    }
    case LayerPart::kAttnOut: {
      const QuantizedRows rows = std::move(layer_rows.context);
      return round_dense({.name = name + ".attention.output.dense",
                          .linears = {&w.attention.out},
                          .input = &scales.context},
                         input_rows(rows), rounding);
    }
    case LayerPart::kCrossQuery: {
      const QuantizedRows rows = std::move(layer_rows.cross_input);
      return round_dense(with_bias(name + ".crossattention.self.query", {&w.cross->query},
                                   scales.cross_input, rows),
                         input_rows(rows), rounding);
    }
    case LayerPart::kCrossKeyValue: {
      const InputRows rows = input_rows(source.cross_rows);
      return round_dense(planes_source(name + ".crossattention.self",
                                       {&w.cross->key, &w.cross->value}, scales.cross_states, rows),
                         rows, rounding);
    }
    case LayerPart::kCrossOut: {
      const QuantizedRows rows = std::move(layer_rows.cross_context);
      return round_dense({.name = name + ".crossattention.output.dense",
                          .linears = {&w.cross->out},
                          .input = &scales.cross_context},
                         input_rows(rows), rounding);
    }
    case LayerPart::kFfnUp: {
      const QuantizedRows rows = std::move(layer_rows.ffn_input);
      std::vector<const Linear*> ffn_up = {&w.ffn_up};
      if (w.ffn_gate) ffn_up.push_back(&*w.ffn_gate);
      return round_dense(with_bias(name + ".intermediate.dense", ffn_up, scales.ffn_input, rows),
                         input_rows(rows), rounding);
    }
    case LayerPart::kFfnDown: {
      const QuantizedRows rows = std::move(layer_rows.activated);
      return round_dense({.name = name + ".output.dense",
                          .linears = {&w.ffn_down},
                          .input = w.ffn_gate ? &scales.activated : nullptr,
                          .split_outliers = true},
                         input_rows(rows), rounding);
    }
  }
  return {};
}

}  // namespace embert::convert
