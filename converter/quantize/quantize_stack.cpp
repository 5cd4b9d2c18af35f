// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/quantize_stack.hpp"

#include <algorithm>
#include <bit>

#include "converter/quantize/encode_integers.hpp"
#include "converter/quantize/layer/smoothing.hpp"
#include "converter/quantize/quantize_embeddings.hpp"

namespace embert::convert {
namespace {

// What the blob says is a float32: use just that.
double as_float32(double x) { return static_cast<double>(static_cast<float>(x)); }
std::uint32_t float_bits(double x) { return std::bit_cast<std::uint32_t>(static_cast<float>(x)); }

std::uint32_t blob_activation(HiddenAct act) {
  switch (act) {
    case HiddenAct::kGelu:
      return kActivationGelu;
    case HiddenAct::kGeluNew:
      return kActivationGeluNew;
    case HiddenAct::kRelu:
      return kActivationRelu;
    case HiddenAct::kSilu:
      return kActivationSilu;
    case HiddenAct::kTanh:
      return kActivationTanh;
  }
  return kActivationGelu;
}

std::uint32_t blob_position_kind(PositionKind kind) {
  switch (kind) {
    case PositionKind::kAbsolute:
      return kPositionTable;
    case PositionKind::kRelativeKey:
      return kPositionRelativeKey;
    case PositionKind::kRelativeKeyQuery:
      return kPositionRelativeKeyQuery;
  }
  return kPositionTable;
}

BlobStack stack_numbers(const StackConfig& config, const StackPlan& plan) {
  BlobStack record{};
  if (config.is_decoder) record.flags |= kStackCausal;
  if (config.cross_attention) record.flags |= kStackCrossAttention;
  if (config.norm_position == NormPosition::kPre) record.flags |= kStackPreNorm;
  record.hidden_size = static_cast<std::uint32_t>(config.hidden_size);
  record.head_size = static_cast<std::uint32_t>(config.head_size());
  record.vocab_size = static_cast<std::uint32_t>(config.vocab_size);
  record.max_positions = static_cast<std::uint32_t>(config.max_position_embeddings);
  record.type_vocab_size = static_cast<std::uint32_t>(config.type_vocab_size);
  record.activation = blob_activation(config.hidden_act);
  record.position_kind = blob_position_kind(config.position_kind);
  record.cross_hidden_size = static_cast<std::uint32_t>(config.cross_hidden_size);
  record.embedding_scale = float_bits(plan.embedding_step);
  record.cross_scale = float_bits(plan.cross_step);
  record.hidden_scale = float_bits(plan.hidden_step);
  return record;
}

}  // namespace

StackPlan plan_stack(const StackConfig& config, const StackWeights& weights,
                     const StackRanges& ranges, double cross_step, const std::string& prefix,
                     std::vector<std::string>& warnings) {
  const auto hidden = static_cast<std::size_t>(config.hidden_size);
  const std::vector<double> zeros(hidden, 0.0), ones(hidden, 1.0);
  StackPlan plan;
  plan.embedding_step = as_float32(embedding_step(config, weights, ranges.embedding_sum));
  plan.hidden_step = as_float32(std::max(2 * static_cast<double>(ranges.last_hidden) / 32767,
                                         least_norm_step(weights.final_norm, zeros, ones)));
  plan.cross_step = cross_step;
  for (std::size_t l = 0; l < weights.layers.size(); ++l) {
    plan.sources.push_back({config, weights.layers[l], ranges.layers[l],
                            prefix + "encoder.layer." + std::to_string(l), plan.embedding_step,
                            cross_step, ranges.cross_rows});
    plan.steps.push_back(plan_layer(plan.sources[l], warnings));
  }
  return plan;
}

QuantizedStack assemble_stack(const StackConfig& config, const StackWeights& weights,
                              const StackPlan& plan, const std::vector<RoundedLayer>& layers,
                              std::vector<LayerErrors>& errors) {
  QuantizedStack out;
  out.record = stack_numbers(config, plan);
  quantize_embeddings(config, weights, plan.embedding_step, out);
  double sum_step = plan.embedding_step;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    AssembledLayer layer = assemble_layer(plan.sources[l], plan.steps[l], layers[l], sum_step);
    sum_step = layer.sum_step;
    out.layers.push_back(std::move(layer.layer));
    const auto error = [&](LayerPart part) { return part_of(layers[l], part).relative_error; };
    errors.push_back({error(LayerPart::kQkv), error(LayerPart::kOutput), error(LayerPart::kFfn1),
                      error(LayerPart::kFfn2), error(LayerPart::kCrossQuery),
                      error(LayerPart::kCrossKeyValue), error(LayerPart::kCrossOutput),
                      layer.copies});
  }
  out.record.sum_scale = float_bits(sum_step);
  const auto hidden = static_cast<std::size_t>(config.hidden_size);
  const std::vector<double> zeros(hidden, 0.0), ones(hidden, 1.0);
  out.final_norm = encode_norm(weights.final_norm, zeros, ones, plan.hidden_step, sum_step,
                               config.layer_norm_eps, "last LayerNorm");
  return out;
}

}  // namespace embert::convert
