// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/rounding/round_layer.hpp"

#include <algorithm>
#include <utility>

#include "converter/quantize/two_planes.hpp"
#include "runtime/format/blob_format.hpp"

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

// Of the second feed-forward layer. Weights that are only a little larger than the next are not
// worth columns: the errors of reference models with random weights grow.
OutlierCopies copies_of_down(const FeedForwardScales& scales, const Linear& down) {
  if (!scales.group.empty()) return {};
  const std::size_t inputs = down.weight.cols;
  const std::size_t room =
      kMaxIntermediateSize - std::min<std::size_t>(inputs, kMaxIntermediateSize);
  return {.most = std::min(room, std::max<std::size_t>(16, inputs / 16)), .least_ratio = 1.5};
}

// Of the first one. With 24 copies of 384 inputs MiniLM's 1 - cosine at `balanced` falls from
// 3.5e-4 to 3.2e-4; `high` pays for more. Narrow layers have none: in reference models of 32 inputs
// with random weights the errors grew as often as they fell.
OutlierCopies copies_of_up(const LayerSource& source, const Linear& up) {
  constexpr std::size_t kLeastInputs = 128;
  const std::size_t inputs = up.weight.cols;
  if (!source.may_copy_inputs() || inputs < kLeastInputs) return {};
  return {.most = std::min(inputs / (source.wide_inputs() ? 8 : 16), kMaxCopiedInputs)};
}

}  // namespace

std::vector<LayerDense> dense_of_layer(const LayerSource& source) {
  std::vector<LayerDense> out = {{LayerPart::kQkv}, {LayerPart::kAttnOut}};
  if (source.weights.cross) {
    out.insert(out.end(),
               {{LayerPart::kCrossQuery}, {LayerPart::kCrossKeyValue}, {LayerPart::kCrossOut}});
  }
  if (source.weights.bottleneck) {
    out.insert(out.end(), {{LayerPart::kBottleneckInput}, {LayerPart::kBottleneckOutput}});
  }
  if (source.config.bottleneck == BottleneckKind::kShared) {
    out.insert(out.end(), {{LayerPart::kValue}, {LayerPart::kBottleneckQueryKey}});
  }
  for (std::size_t i = 0; i <= source.weights.stacked.size(); ++i) {
    out.insert(out.end(), {{LayerPart::kFfnUp, i}, {LayerPart::kFfnDown, i}});
  }
  return out;
}

RoundedLayer unrounded_layer(const LayerSource& source) {
  RoundedLayer out;
  for (const auto& [part, ffn] : dense_of_layer(source)) {
    out.parts[static_cast<std::size_t>(part)].resize(ffn + 1);
  }
  return out;
}

RoundedDense round_layer_part(const LayerSource& source, const LayerScales& scales,
                              LayerDense dense, LayerRows& layer_rows, Rounding rounding) {
  const LayerWeights& w = source.weights;
  const std::string& name = source.name;
  const FeedForwardWeights& ffn = w.ffn(dense.ffn);
  const FeedForwardScales& ffn_scales = scales.ffn(dense.ffn);
  FeedForwardRows& ffn_rows = layer_rows.ffn(dense.ffn);
  // Layers with bottlenecks: several parts read the hidden state, so its rows stay.
  const auto of_hidden = [&](const std::string& part, const std::vector<const Linear*>& linears) {
    const QuantizedRows& rows = layer_rows.input;
    return round_dense(with_bias(name + part, linears, scales.input, rows), input_rows(rows),
                       rounding);
  };
  const auto of_block = [&](const std::string& part, const std::vector<const Linear*>& linears,
                            const ChannelQuant& input, QuantizedRows& taken) {
    const QuantizedRows rows = std::move(taken);
    return round_dense(with_bias(name + part, linears, input, rows), input_rows(rows), rounding);
  };
  switch (dense.part) {
    case LayerPart::kQkv: {
      const AttentionWeights& a = w.attention;
      const std::string part = ".attention.self";
      switch (source.config.bottleneck) {
        case BottleneckKind::kShared:
          return of_block(part, {&a.query, &a.key}, scales.query_key, layer_rows.query_key);
        case BottleneckKind::kInput:
          return of_block(part, {&a.query, &a.key, &a.value}, scales.intra, layer_rows.intra);
        case BottleneckKind::kOutput:
          return of_hidden(part, {&a.query, &a.key, &a.value});
        case BottleneckKind::kNone:
          return of_block(part, {&a.query, &a.key, &a.value}, scales.input, layer_rows.input);
      }
      return {};
    }
    case LayerPart::kValue:
      return of_hidden(".attention.self.value", {&w.attention.value});
    case LayerPart::kBottleneckInput:
      return of_hidden(".bottleneck.input.dense", {&w.bottleneck->input.dense});
    case LayerPart::kBottleneckQueryKey:
      return of_hidden(".bottleneck.attention.dense", {&w.bottleneck->query_key.dense});
    case LayerPart::kBottleneckOutput:
      return of_block(".output.bottleneck.dense", {&w.bottleneck->output}, scales.bottleneck_output,
                      layer_rows.bottleneck_output);
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
      std::vector<const Linear*> up = {&ffn.ffn_up};
      if (ffn.ffn_gate) up.push_back(&*ffn.ffn_gate);
      const QuantizedRows rows = std::move(ffn_rows.ffn_input);
      DenseSource up_source =
          with_bias(name + ".intermediate.dense", up, ffn_scales.ffn_input, rows);
      up_source.copies = copies_of_up(source, ffn.ffn_up);
      return round_dense(std::move(up_source), input_rows(rows), rounding);
    }
    case LayerPart::kFfnDown: {
      const QuantizedRows rows = std::move(ffn_rows.activated);
      return round_dense({.name = name + ".output.dense",
                          .linears = {&ffn.ffn_down},
                          .input = ffn.ffn_gate ? &ffn_scales.activated : nullptr,
                          .copies = copies_of_down(ffn_scales, ffn.ffn_down),
                          .group = ffn_scales.group},
                         input_rows(rows), rounding);
    }
  }
  return {};
}

}  // namespace embert::convert
