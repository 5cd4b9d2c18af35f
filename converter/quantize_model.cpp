// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize_model.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "converter/encode_numbers.hpp"
#include "converter/quantize_layer.hpp"

namespace embert::convert {
namespace {

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

std::uint32_t blob_problem(ProblemType problem) {
  switch (problem) {
    case ProblemType::kSingleLabel:
      return kProblemSingleLabel;
    case ProblemType::kMultiLabel:
      return kProblemMultiLabel;
    case ProblemType::kRegression:
      return kProblemRegression;
  }
  return kProblemSingleLabel;
}

QuantizedRows take_rows(LayerRows& rows, LayerPart part) {
  switch (part) {
    case LayerPart::kQkv:
      return std::move(rows.input);
    case LayerPart::kOutput:
      return std::move(rows.context);
    case LayerPart::kFfn1:
      return std::move(rows.ffn_input);
    case LayerPart::kFfn2:
      return std::move(rows.activated);
  }
  return {};
}

using Parts = std::array<RoundedDense, kLayerParts>;

// Rounds all GEMMs of all layers, the largest kind first so that threads finish together.
std::vector<Parts> round_layers(const std::vector<LayerSource>& sources,
                                const std::vector<LayerSteps>& steps, std::vector<LayerRows>& rows,
                                Rounding rounding, Workers& workers) {
  constexpr LayerPart kByCost[] = {LayerPart::kFfn2, LayerPart::kFfn1, LayerPart::kQkv,
                                   LayerPart::kOutput};
  std::vector<Parts> parts(sources.size());
  workers.run(sources.size() * kLayerParts, [&](std::size_t task) {
    const std::size_t l = task % sources.size();
    const LayerPart part = kByCost[task / sources.size()];
    const QuantizedRows own = take_rows(rows[l], part);  // freed with the task
    parts[l][static_cast<std::size_t>(part)] =
        round_layer_part(sources[l], steps[l], part, own, rounding);
  });
  return parts;
}

void quantize_heads(const ModelWeights& weights, const Ranges& ranges, double hidden_scale,
                    Rounding rounding, QuantizeResult& result) {
  QuantizedModel& out = result.model;
  if (!weights.pooler) return;
  out.pooler = quantize_head(*weights.pooler, ranges.first_hidden, hidden_scale, 0x1p-12, rounding,
                             "pooler.dense", result.pooler_error, result.warnings);
  constexpr double kPooledStep = 1.0 / 28672;  // tanh in Q12, times 7 to fill 16 bits
  out.pooled_scale = static_cast<float>(kPooledStep);
  if (!weights.classifier) return;
  const double reach = ranges.logits > 0 ? static_cast<double>(ranges.logits) : 1.0;
  out.logits_scale = static_cast<float>(2 * reach * 0x1p-24);
  out.num_labels = static_cast<std::uint32_t>(weights.classifier->bias.size());
  out.classifier = quantize_head(*weights.classifier, ranges.pooled, kPooledStep,
                                 static_cast<double>(out.logits_scale), rounding, "classifier",
                                 result.classifier_error, result.warnings);
}

// What is computed in integers so far; the float model computes more.
void require_plain_encoder(const ModelConfig& config, const ModelWeights& weights) {
  const BertConfig& stack = config.first();
  const bool plain = config.stacks.size() == 1 && stack.position_kind == PositionKind::kTable &&
                     stack.norm_position == NormPosition::kPost && stack.embedding_layer_norm &&
                     !stack.is_decoder && !weights.token_labels && !weights.language &&
                     std::ranges::all_of(stack.num_heads_of_layer, [&](int heads) {
                       return heads == stack.num_attention_heads;
                     });
  if (!plain) {
    throw ConvertError(
        "config.json: only encoders with post-LayerNorm, absolute positions, all their heads and "
        "at most a sequence classifier are converted to integers");
  }
}

}  // namespace

QuantizeResult quantize_model(const ModelConfig& model_config, const ModelWeights& model_weights,
                              FloatModel& model, const TokenBatch& texts,
                              const QuantizeOptions& options, Workers& workers,
                              const Progress& progress) {
  const auto report = [&](const char* step, double done) {
    if (progress) progress(step, done);
  };
  require_plain_encoder(model_config, model_weights);
  const BertConfig& config = model_config.first();
  const StackWeights& weights = model_weights.stacks[0];
  QuantizeResult result;
  report("measuring ranges", 0.0);
  const Ranges ranges = measure_ranges(model, config, texts);

  std::vector<LayerSource> sources;
  std::vector<LayerSteps> steps;
  for (std::size_t l = 0; l < weights.layers.size(); ++l) {
    sources.push_back({config, weights.layers[l], *weights.layers[l].input_norm, ranges.layers[l],
                       "encoder.layer." + std::to_string(l)});
    steps.push_back(plan_layer(sources[l], result.warnings));
  }
  report("collecting rows", 0.25);
  const std::size_t max_rows = options.max_rows > 0 ? options.max_rows : affordable_rows(config);
  std::vector<LayerRows> rows = collect_rows(model, steps, texts, max_rows);
  report("rounding weights", 0.5);
  const std::vector<Parts> parts = round_layers(sources, steps, rows, options.rounding, workers);
  for (const Parts& layer : parts) {
    for (const RoundedDense& part : layer) {
      if (!part.codes.warning.empty()) result.warnings.push_back(part.codes.warning);
    }
  }
  report("assembling", 0.95);

  result.model.problem = blob_problem(model_config.problem_type);
  QuantizedStack& out = result.model.stacks.emplace_back();
  BlobStack& numbers = out.numbers;
  numbers.hidden_size = static_cast<std::uint32_t>(config.hidden_size);
  numbers.head_size = static_cast<std::uint32_t>(config.head_size());
  numbers.vocab_size = static_cast<std::uint32_t>(config.vocab_size);
  numbers.max_positions = static_cast<std::uint32_t>(config.max_position_embeddings);
  numbers.type_vocab_size = static_cast<std::uint32_t>(config.type_vocab_size);
  numbers.activation = blob_activation(config.hidden_act);

  double sum_step = embedding_step(config, weights, ranges.embedding_sum);
  // What the blob says is a float32: use just that.
  const auto embedding_scale = static_cast<float>(sum_step);
  sum_step = static_cast<double>(embedding_scale);
  numbers.embedding_scale = std::bit_cast<std::uint32_t>(embedding_scale);
  quantize_embeddings(weights, sum_step, out);
  for (std::size_t l = 0; l < sources.size(); ++l) {
    AssembledLayer layer = assemble_layer(sources[l], steps[l], parts[l], sum_step);
    sum_step = layer.sum_step;
    out.layers.push_back(std::move(layer.layer));
    result.layers.push_back({parts[l][0].relative_error, parts[l][1].relative_error,
                             parts[l][2].relative_error, parts[l][3].relative_error, layer.copies});
  }
  const LayerNorm& last = weights.output_norm;
  const auto hidden = static_cast<std::size_t>(config.hidden_size);
  const std::vector<double> zeros(hidden, 0.0), ones(hidden, 1.0);
  const auto hidden_scale = static_cast<float>(std::max(
      2 * static_cast<double>(ranges.last_hidden) / 32767, least_norm_step(last, zeros, ones)));
  numbers.hidden_scale = std::bit_cast<std::uint32_t>(hidden_scale);
  numbers.sum_scale = std::bit_cast<std::uint32_t>(static_cast<float>(sum_step));
  out.output_norm = encode_norm(last, zeros, ones, static_cast<double>(hidden_scale), sum_step,
                                config.layer_norm_eps, "last LayerNorm");
  quantize_heads(model_weights, ranges, static_cast<double>(hidden_scale), options.rounding,
                 result);
  report("assembling", 1.0);
  return result;
}

}  // namespace embert::convert
