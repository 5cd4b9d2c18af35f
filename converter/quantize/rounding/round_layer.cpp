// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/rounding/round_layer.hpp"

#include <utility>

#include "converter/quantize/two_planes.hpp"

namespace embert::convert {
namespace {

// A layer whose bias is added to the sum itself: it must fit there, and rounding changes it little.
DenseSource biased(const std::string& name, const std::vector<const Linear*>& linears,
                   const ChannelQuant& domain, const QuantizedRows& rows) {
  return {name, linears, &domain, false,
          steps_for_bias(mean_output(linears, rows.real_mean), domain.scale)};
}

}  // namespace

bool has_part(const LayerSource& source, LayerPart part) {
  const bool of_cross = part == LayerPart::kCrossQuery || part == LayerPart::kCrossKeyValue ||
                        part == LayerPart::kCrossOutput;
  return source.weights.cross.has_value() || !of_cross;
}

RoundedDense round_layer_part(const LayerSource& source, const LayerScales& steps, LayerPart part,
                              LayerRows& layer_rows, Rounding rounding) {
  const LayerWeights& w = source.weights;
  const std::string& name = source.name;
  switch (part) {
    case LayerPart::kQkv: {
      const QuantizedRows rows = std::move(layer_rows.input);
      return round_dense(
          biased(name + ".attention.self",
                 {&w.attention.query, &w.attention.key, &w.attention.value}, steps.input, rows),
          input_rows(rows), rounding);
    }
    case LayerPart::kOutput: {
      const QuantizedRows rows = std::move(layer_rows.context);
      return round_dense({name + ".attention.output.dense", {&w.attention.out}, &steps.context},
                         input_rows(rows), rounding);
    }
    case LayerPart::kCrossQuery: {
      const QuantizedRows rows = std::move(layer_rows.cross_input);
      return round_dense(
          biased(name + ".crossattention.self.query", {&w.cross->query}, steps.cross_input, rows),
          input_rows(rows), rounding);
    }
    case LayerPart::kCrossKeyValue: {
      const InputRows rows = input_rows(source.cross_rows);
      return round_dense(planes_source(name + ".crossattention.self",
                                       {&w.cross->key, &w.cross->value}, steps.cross_states, rows),
                         rows, rounding);
    }
    case LayerPart::kCrossOutput: {
      const QuantizedRows rows = std::move(layer_rows.cross_context);
      return round_dense(
          {name + ".crossattention.output.dense", {&w.cross->out}, &steps.cross_context},
          input_rows(rows), rounding);
    }
    case LayerPart::kFfn1: {
      const QuantizedRows rows = std::move(layer_rows.ffn_input);
      return round_dense(biased(name + ".intermediate.dense", {&w.ffn_up}, steps.ffn_input, rows),
                         input_rows(rows), rounding);
    }
    case LayerPart::kFfn2: {
      const QuantizedRows rows = std::move(layer_rows.activated);
      return round_dense({name + ".output.dense", {&w.ffn_down}, nullptr, true}, input_rows(rows),
                         rounding);
    }
  }
  return {};
}

}  // namespace embert::convert
